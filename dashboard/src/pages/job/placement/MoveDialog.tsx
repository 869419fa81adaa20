import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ConfirmDialog } from "../../../components/ConfirmDialog";
import { ErrorAlert } from "../../../components/ErrorAlert";
import { jobPlacementQuery, move } from "../../../data/jobQueries";
import { KEYS } from "../../../data/queries";
import type { JobProps } from "../jobProps";

interface Props extends JobProps {
  /** The place that it goes to. */
  goal: string;
  onClose: () => void;
}

/** Asks before a job goes on in another place. */
export function MoveDialog({ job, goal, onClose }: Props) {
  const { id, name } = job.metadata;
  const queryClient = useQueryClient();
  const doing = useMutation({
    mutationFn: () => move(id, goal),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [KEYS.job, id] });
      void queryClient.invalidateQueries({ queryKey: jobPlacementQuery(id).queryKey });
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={`Move ${name} to ${goal}?`}
      button="Move the job"
      isPending={doing.isPending}
      onConfirm={() => doing.mutate()}
      onClose={onClose}
    >
      <p>
        If it runs, its processes get SIGTERM and their grace period to write a checkpoint. It goes on at{" "}
        {goal} with its output, as the same job.
      </p>
      {doing.error && <ErrorAlert error={doing.error} />}
    </ConfirmDialog>
  );
}
