/** A job for which several places come into question: they are asked, and the best becomes the draft's. */
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { checkDraft } from "../../data/drafts";
import { placement, type Placement } from "../../data/placement";
import type { Draft } from "./useDraft";

export interface Placing {
  places: readonly string[];
  /** What they offer; none: they were not asked. */
  found: Placement | undefined;
  /** Whether the draft has changed since they were asked. */
  isOld: boolean;
  isAsking: boolean;
  error: unknown;
  choose: (places: readonly string[]) => void;
  /** Where the job goes: the places are asked again if it has changed. */
  place: (text: string) => Promise<string>;
}

export class NoPlaceError extends Error {}

export function usePlacing(draft: Draft): Placing {
  const [places, setPlaces] = useState<readonly string[]>([]);
  const asking = useMutation({
    mutationFn: async (wanted: readonly string[]) => {
      const text = await draft.settled();
      const report = await checkDraft(text, draft.backend, "");
      if (report.objects.length === 0)
        throw new NoPlaceError("The job must be readable before places can be asked.");
      return { text, ...(await placement(report, wanted)) };
    },
  });
  const take = ({ chosen }: Placement) => {
    if (chosen !== null) draft.edit({ backend: chosen });
  };

  function choose(wanted: readonly string[]) {
    setPlaces(wanted);
    if (wanted.length > 1) asking.mutate(wanted, { onSuccess: take });
    else asking.reset();
  }

  async function place(text: string): Promise<string> {
    if (places.length < 2) return draft.backend;
    const known = asking.data?.text === text && !asking.isPending ? asking.data : undefined;
    const found = known ?? (await asking.mutateAsync(places, { onSuccess: take }));
    if (found.chosen === null) throw new NoPlaceError("No place takes the job: the table says why.");
    return found.chosen;
  }

  return {
    places,
    found: places.length > 1 ? asking.data : undefined,
    isOld: asking.data !== undefined && asking.data.text !== draft.text,
    isAsking: asking.isPending,
    error: asking.error,
    choose,
    place,
  };
}
