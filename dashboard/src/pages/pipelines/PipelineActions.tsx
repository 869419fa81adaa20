import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { Flex } from "@patternfly/react-core/dist/dynamic/layouts/Flex";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { ErrorAlert } from "../../components/ErrorAlert";
import { isOver } from "../../components/phases";
import { cancel, type Run } from "../../data/pipelines";
import { KEYS } from "../../data/queries";

/** What can be done with all of a pipeline. */
export function PipelineActions({ run }: { run: Run }) {
  const { id, name } = run.metadata;
  const [isAsked, setAsked] = useState(false);
  const queryClient = useQueryClient();
  const doing = useMutation({
    mutationFn: () => cancel(id),
    onSettled: () => {
      setAsked(false);
      return queryClient.invalidateQueries({ queryKey: [KEYS.runs] });
    },
  });
  return (
    <>
      <Flex gap={{ default: "gapSm" }} className="tw-actions">
        <Link to="/jobs" search={{ run: id }} className="pf-v6-c-button pf-m-secondary">
          Jobs
        </Link>
        {!isOver(run.status.phase) && (
          <Button variant="secondary" isDisabled={doing.isPending} onClick={() => setAsked(true)}>
            Cancel
          </Button>
        )}
      </Flex>
      {doing.error && <ErrorAlert error={doing.error} />}
      {isAsked && (
        <ConfirmDialog
          title={`Cancel ${name}?`}
          button="Cancel the pipeline"
          isPending={doing.isPending}
          onConfirm={() => doing.mutate()}
          onClose={() => setAsked(false)}
        >
          <p>
            Tasks that run are stopped, and those that wait never start. You can rerun it from a task later.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
