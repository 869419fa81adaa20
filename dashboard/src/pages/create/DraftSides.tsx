import { Alert } from "@patternfly/react-core/dist/dynamic/components/Alert";
import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { ErrorAlert } from "../../components/ErrorAlert";
import { checkDraft, freshKey, submit } from "../../data/drafts";
import { KEYS, queryClient } from "../../data/queries";
import { DraftFields } from "./DraftFields";
import { Findings } from "./Findings";
import { Objects } from "./Objects";
import { forgetDraft, useDraft, type DraftStart } from "./useDraft";
import { usePlacing } from "./usePlacing";
import { YamlEditor } from "./YamlEditor";

interface Props {
  name: string;
  start: DraftStart;
  /** The job that is submitted again; empty: it is a new one. */
  rerun: string;
  /** What goes with that job as it was. */
  others: readonly string[];
}

class RefusedError extends Error {}

/** The form and the text beside each other. */
export function DraftSides({ name, start, rerun, others }: Props) {
  const draft = useDraft(name, start, rerun);
  const placing = usePlacing(draft);
  const navigate = useNavigate();
  const [isShown, setIsShown] = useState(false);
  const sent = `${draft.backend}\n${draft.text}`;
  const key = useMemo(() => ({ of: sent, key: freshKey() }), [sent]).key;
  const submitting = useMutation({
    mutationFn: async () => {
      const text = await draft.settled();
      const place = await placing.place(text);
      const report = await checkDraft(text, place, rerun);
      if (report.errors.length > 0) throw new RefusedError(report.errors[0]?.message);
      return submit(report, place, rerun, key);
    },
    onSuccess: (job) => {
      forgetDraft(name);
      void queryClient.invalidateQueries({ queryKey: [KEYS.jobs] });
      void navigate({ to: "/jobs/$job", params: { job } });
    },
  });
  const errors = draft.report?.errors ?? [];
  const marked = new Set(errors.flatMap((item) => (item.line === null ? [] : [item.line])));
  const isReady = draft.report !== undefined && errors.length === 0;
  return (
    <>
      {others.length > 0 && (
        <Alert
          variant="info"
          isInline
          isPlain
          component="p"
          title={`Goes with it as it was: ${others.join(", ")}`}
          className="tw-break"
        />
      )}
      <div className="tw-draft">
        <DraftFields draft={draft} placing={placing} isPlaced={rerun !== ""} />
        <div className="tw-draft-text">
          <YamlEditor text={draft.text} marked={marked} onWrite={draft.write} />
          <div aria-live="polite" className="tw-draft-report">
            {draft.error ? (
              <ErrorAlert error={draft.error} title="The draft could not be checked" />
            ) : draft.report ? (
              <Findings report={draft.report} />
            ) : (
              <p className="tw-subtle">Checking …</p>
            )}
          </div>
        </div>
      </div>
      {submitting.error && !(submitting.error instanceof RefusedError) && (
        <ErrorAlert error={submitting.error} title="The job was not submitted" />
      )}
      <div className="tw-draft-actions">
        <Button
          variant="primary"
          isDisabled={!isReady || placing.isAsking || submitting.isPending}
          isLoading={submitting.isPending}
          onClick={() => submitting.mutate()}
        >
          {rerun ? "Submit again" : "Submit"}
        </Button>
        <Button variant="secondary" isDisabled={!isReady} onClick={() => setIsShown(true)}>
          Dry run
        </Button>
        {draft.isChecking && <span className="tw-subtle">Checking …</span>}
      </div>
      {isShown && draft.report && (
        <Objects objects={draft.report.compiled} backend={draft.backend} onClose={() => setIsShown(false)} />
      )}
    </>
  );
}
