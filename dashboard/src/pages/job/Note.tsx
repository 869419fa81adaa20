import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { TextInput } from "@patternfly/react-core/dist/dynamic/components/TextInput";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { change } from "../../data/client";
import { KEYS } from "../../data/queries";
import type { JobProps } from "./jobProps";

/** What somebody wrote on the job, which anybody may change. */
export function Note({ job }: JobProps) {
  const { id, note = "" } = job.metadata;
  const [draft, setDraft] = useState<string | null>(null);
  const queryClient = useQueryClient();
  const write = useMutation({
    mutationFn: (text: string) =>
      change("patch", "/api/v1/jobs/{ref}", { path: { ref: id }, body: { note: text, links: {} } }),
    onSuccess: () => {
      setDraft(null);
      void queryClient.invalidateQueries({ queryKey: [KEYS.job, id] });
    },
  });
  if (draft === null) {
    return (
      <>
        {note}{" "}
        <Button variant="link" isInline onClick={() => setDraft(note)}>
          {note ? "Edit" : "Add a note"}
        </Button>
      </>
    );
  }
  return (
    <form
      className="tw-note"
      onSubmit={(event) => {
        event.preventDefault();
        write.mutate(draft);
      }}
    >
      <TextInput
        aria-label="Note"
        value={draft}
        autoFocus
        onChange={(_, text) => setDraft(text)}
        onKeyDown={(event) => event.key === "Escape" && setDraft(null)}
      />
      <Button type="submit" variant="secondary" isDisabled={write.isPending}>
        Save
      </Button>
      {write.error && <span role="alert">{write.error.message}</span>}
    </form>
  );
}
