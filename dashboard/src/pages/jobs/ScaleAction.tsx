import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { jobQuery } from "../../data/queries";
import type { Job } from "./actions";

const ScaleDialog = lazy(() => import("../../components/ScaleDialog"));
const MAYBE = ["Pending", "Queued", "Inadmissible", "Paused"];

/** Scales the job that is selected, where the server says that it can be scaled. */
export function ScaleAction({ selected }: { selected: readonly Job[] }) {
  const [isAsked, setAsked] = useState(false);
  const only = selected.length === 1 ? selected[0] : undefined;
  const isMaybe = only !== undefined && MAYBE.includes(only.status.phase);
  const { data: job } = useQuery({ ...jobQuery(only?.metadata.id ?? ""), enabled: isMaybe });
  if (!isMaybe || !job?.status.scalable) return null;
  return (
    <>
      <Button variant="secondary" size="sm" onClick={() => setAsked(true)}>
        Scale nodes…
      </Button>
      {isAsked && (
        <Suspense fallback={null}>
          <ScaleDialog job={job} onClose={() => setAsked(false)} />
        </Suspense>
      )}
    </>
  );
}
