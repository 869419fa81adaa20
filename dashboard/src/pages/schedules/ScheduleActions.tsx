import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { ErrorAlert } from "../../components/ErrorAlert";
import { act, schedulesQuery, type ScheduleWish } from "../../data/schedules";

/** What can be done with a schedule. */
export function ScheduleActions({ name, isPaused }: { name: string; isPaused: boolean }) {
  const [isAsked, setAsked] = useState(false);
  const queryClient = useQueryClient();
  const doing = useMutation({
    mutationFn: (wish: ScheduleWish) => act(name, wish),
    onSettled: () => {
      setAsked(false);
      return queryClient.invalidateQueries(schedulesQuery);
    },
  });
  const wish = isPaused ? "resume" : "pause";
  return (
    <div className="tw-actions">
      <Button
        size="sm"
        variant="secondary"
        isDisabled={doing.isPending}
        aria-label={`${isPaused ? "Resume" : "Pause"} ${name}`}
        onClick={() => doing.mutate(wish)}
      >
        {isPaused ? "Resume" : "Pause"}
      </Button>
      <Button
        size="sm"
        variant="secondary"
        isDanger
        isDisabled={doing.isPending}
        aria-label={`Delete ${name}`}
        onClick={() => setAsked(true)}
      >
        Delete
      </Button>
      {doing.error && <ErrorAlert error={doing.error} />}
      {isAsked && (
        <ConfirmDialog
          title={`Delete ${name}?`}
          button="Delete the schedule"
          isPending={doing.isPending}
          onConfirm={() => doing.mutate("delete")}
          onClose={() => setAsked(false)}
        >
          <p>It submits no more jobs. Those that it has submitted stay, and go on if they run.</p>
        </ConfirmDialog>
      )}
    </div>
  );
}
