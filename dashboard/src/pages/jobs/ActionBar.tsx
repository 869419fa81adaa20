import { Alert, AlertActionCloseButton } from "@patternfly/react-core/dist/dynamic/components/Alert";
import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { useMutation } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { memo, useMemo, useState } from "react";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { count } from "../../components/format";
import { NameList } from "../../components/NameList";
import { freshKey } from "../../data/drafts";
import { KEYS, queryClient } from "../../data/queries";
import { ACTIONS, perform, type Action, type Job } from "./actions";
import { ScaleAction } from "./ScaleAction";

interface Props {
  selected: readonly Job[];
  onDone: () => void;
}

const COMPARE = "/compare";

/** What can be done with the jobs that are selected. */
export const ActionBar = memo(function ActionBar({ selected, onDone }: Props) {
  const [asked, setAsked] = useState<Action | null>(null);
  const router = useRouter();
  const hasCompare = COMPARE in router.routesByPath;
  const ids = selected.map((job) => job.metadata.id).join(",");
  const key = useMemo(() => ({ of: ids, key: freshKey() }), [ids]).key;
  const {
    mutate,
    data: failed,
    isPending,
    reset,
  } = useMutation({
    mutationFn: (action: Action) => perform(action, selected, key),
    onSuccess: (failures) => {
      void queryClient.invalidateQueries({ queryKey: [KEYS.jobs] });
      void queryClient.invalidateQueries({ queryKey: [KEYS.job] });
      if (failures.length === 0) onDone();
    },
  });
  const begin = (action: Action) => {
    setAsked(null);
    mutate(action);
  };
  const concerned = asked ? selected.filter((job) => asked.isFor(job.status.phase)) : [];
  return (
    <>
      {failed && failed.length > 0 && (
        <Alert
          isInline
          variant="danger"
          title={`It did not work with ${count(failed.length, "job")}`}
          actionClose={<AlertActionCloseButton onClose={reset} />}
        >
          <ul>
            {failed.map(({ id, name, error }) => (
              <li key={id} className="tw-break">
                {name} ({id}): {error instanceof Error ? error.message : String(error)}
              </li>
            ))}
          </ul>
        </Alert>
      )}
      <div className="tw-actions" role="toolbar" aria-label="Actions">
        <span aria-live="polite">
          {selected.length === 0 ? "No job selected" : `${count(selected.length, "job")} selected`}
        </span>
        {ACTIONS.map((action) => (
          <Button
            key={action.name}
            variant={action.name === "Delete" ? "danger" : "secondary"}
            size="sm"
            isDisabled={isPending || !selected.some((job) => action.isFor(job.status.phase))}
            onClick={() => (action.warning ? setAsked(action) : begin(action))}
          >
            {action.name}
          </Button>
        ))}
        <ScaleAction selected={selected} />
        {hasCompare && (
          <Button
            variant="secondary"
            size="sm"
            isDisabled={selected.length < 2}
            onClick={() => router.history.push(`/dashboard${COMPARE}?jobs=${ids}`)}
          >
            Compare
          </Button>
        )}
        {selected.length > 0 && (
          <Button variant="link" size="sm" onClick={onDone}>
            Select none
          </Button>
        )}
      </div>
      {asked && concerned.length > 0 && (
        <ConfirmDialog
          title={`${asked.name} ${count(concerned.length, "job")}?`}
          button={asked.name}
          isPending={isPending}
          onConfirm={() => begin(asked)}
          onClose={() => setAsked(null)}
        >
          <p>{asked.warning}</p>
          <NameList names={concerned.map((job) => job.metadata.name)} />
        </ConfirmDialog>
      )}
    </>
  );
});
