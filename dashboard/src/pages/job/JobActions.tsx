import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { Flex } from "@patternfly/react-core/dist/dynamic/layouts/Flex";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { ErrorAlert } from "../../components/ErrorAlert";
import { isOver } from "../../components/phases";
import { change } from "../../data/client";
import { KEYS } from "../../data/queries";
import type { JobProps } from "./jobProps";

const ScaleDialog = lazy(() => import("../../components/ScaleDialog"));

type Action = "suspend" | "resume" | "cancel" | "delete";
const RUNS = ["Starting", "Running", "Restarting", "Queued", "Pending"];

/** What can be done with the job now. */
export function JobActions({ job }: JobProps) {
  const { id, name } = job.metadata;
  const { phase } = job.status;
  const [asked, setAsked] = useState<"cancel" | "delete" | "scale" | null>(null);
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const act = useMutation({
    mutationFn: async (action: Action): Promise<unknown> => {
      const path = { ref: id };
      if (action === "delete") return change("delete", "/api/v1/jobs/{ref}", { path });
      if (action === "suspend") return change("post", "/api/v1/jobs/{ref}/suspend", { path });
      if (action === "resume") return change("post", "/api/v1/jobs/{ref}/resume", { path });
      return change("post", "/api/v1/jobs/{ref}/cancel", { path });
    },
    onSuccess: async (_, action) => {
      setAsked(null);
      if (action === "delete") await navigate({ to: "/jobs" });
      else void queryClient.invalidateQueries({ queryKey: [KEYS.job, id] });
      void queryClient.invalidateQueries({ queryKey: [KEYS.jobs] });
    },
    onError: () => setAsked(null),
  });
  const over = isOver(phase);
  const button = (action: Action, text: string) => (
    <Button
      variant="secondary"
      isDisabled={act.isPending}
      isLoading={act.isPending && act.variables === action}
      onClick={() => (action === "cancel" ? setAsked("cancel") : act.mutate(action))}
    >
      {text}
    </Button>
  );
  return (
    <>
      <Flex gap={{ default: "gapSm" }} className="tw-job-actions">
        {!over && RUNS.includes(phase) && button("suspend", "Suspend")}
        {phase === "Paused" && button("resume", "Resume")}
        {job.status.scalable && (
          <Button variant="secondary" isDisabled={act.isPending} onClick={() => setAsked("scale")}>
            Scale nodes…
          </Button>
        )}
        {!over && phase !== "Stopping" && button("cancel", "Cancel")}
        <Link to="/create" search={{ from: id }} className="pf-v6-c-button pf-m-secondary">
          Rerun
        </Link>
        <Button variant="danger" isDisabled={act.isPending} onClick={() => setAsked("delete")}>
          Delete
        </Button>
      </Flex>
      {act.error && <ErrorAlert error={act.error} />}
      {asked === "scale" && (
        <Suspense fallback={null}>
          <ScaleDialog job={job} onClose={() => setAsked(null)} />
        </Suspense>
      )}
      {asked === "delete" && (
        <ConfirmDialog
          title={`Delete ${name}?`}
          button="Delete"
          isPending={act.isPending}
          onConfirm={() => act.mutate("delete")}
          onClose={() => setAsked(null)}
        >
          {over ? "" : "The job has not ended: its processes will be stopped. "}
          Its logs, metrics and the files in its output directory are removed. This cannot be undone.
        </ConfirmDialog>
      )}
      {asked === "cancel" && (
        <ConfirmDialog
          title={`Cancel ${name}?`}
          button="Cancel the job"
          isPending={act.isPending}
          onConfirm={() => act.mutate("cancel")}
          onClose={() => setAsked(null)}
        >
          Its processes are stopped, and it cannot be resumed. Logs and files are kept. To stop it for a
          while, suspend it.
        </ConfirmDialog>
      )}
    </>
  );
}
