import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { ErrorAlert } from "../../components/ErrorAlert";
import { NameList } from "../../components/NameList";
import { rerunFrom, type Run } from "../../data/pipelines";
import { KEYS } from "../../data/queries";
import type { Task } from "./pipeline";

interface Props {
  run: Run;
  from: string;
  /** What runs again: the task, and all that come after it. */
  again: readonly Task[];
  onClose: () => void;
}

/** Asks before tasks of a pipeline are submitted again. */
export function RerunDialog({ run, from, again, onClose }: Props) {
  const queryClient = useQueryClient();
  const doing = useMutation({
    mutationFn: () => rerunFrom(run.metadata.id, from),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [KEYS.runs] });
      void queryClient.invalidateQueries({ queryKey: [KEYS.jobs] });
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={`Rerun ${run.metadata.name} from ${from}?`}
      button="Rerun"
      isPending={doing.isPending}
      onConfirm={() => doing.mutate()}
      onClose={onClose}
    >
      <p>New jobs take the places of these tasks; what has succeeded before them is kept:</p>
      <NameList names={again.map((task) => task.name)} most={10} />
      {doing.error && <ErrorAlert error={doing.error} />}
    </ConfirmDialog>
  );
}
