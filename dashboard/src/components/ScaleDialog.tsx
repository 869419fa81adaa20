import { useMutation, useQueryClient } from "@tanstack/react-query";
import { change, type Schemas } from "../data/client";
import { KEYS } from "../data/queries";
import { ErrorAlert } from "./ErrorAlert";
import { count } from "./format";
import { NumberDialog } from "./NumberDialog";
import { MOST_NODES, nodesNow, wantedNodes } from "./scaling";

interface Props {
  job: Schemas["Job"];
  onClose: () => void;
}

/** Asks how many nodes a job is to have that waits. */
export default function ScaleDialog({ job, onClose }: Props) {
  const { id, name } = job.metadata;
  const now = nodesNow(job.status.nodes ?? []);
  const queryClient = useQueryClient();
  const scaling = useMutation({
    mutationFn: (wanted: number) =>
      change("post", "/api/v1/jobs/{ref}/scale", { path: { ref: id }, body: { nodes: wanted } }),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: [KEYS.job, id] });
      void queryClient.invalidateQueries({ queryKey: [KEYS.jobs] });
      onClose();
    },
  });
  return (
    <NumberDialog
      title={`Scale ${name}`}
      label="Nodes"
      initial={now}
      parse={wantedNodes}
      allowed={`Write a whole number from 1 to ${MOST_NODES}.`}
      button="Scale"
      mustDiffer
      isPending={scaling.isPending}
      onChoose={scaling.mutate}
      onClose={onClose}
      before={
        <p>
          It has {count(now, "node")} now. It keeps its place in the queue and starts with the new number.
        </p>
      }
    >
      {scaling.error && <ErrorAlert error={scaling.error} title="The job was not scaled" />}
    </NumberDialog>
  );
}
