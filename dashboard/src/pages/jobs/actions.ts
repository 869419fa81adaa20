/** What can be done with jobs, and with which of them. */
import { isOver } from "../../components/phases";
import { change, type Schemas } from "../../data/client";

export type Job = Schemas["Job"];

export interface Action {
  name: string;
  /** What is asked before; empty: nothing is. */
  warning: string;
  isFor: (phase: string) => boolean;
  /** A request that is repeated with its key is done once. */
  run: (ref: string, key: string) => Promise<unknown>;
}

const isRunning = (phase: string) => !isOver(phase) && phase !== "Paused" && phase !== "Stopping";

export const ACTIONS: readonly Action[] = [
  {
    name: "Suspend",
    warning: "",
    isFor: isRunning,
    run: (ref) => change("post", "/api/v1/jobs/{ref}/suspend", { path: { ref } }),
  },
  {
    name: "Resume",
    warning: "",
    isFor: (phase) => phase === "Paused",
    run: (ref) => change("post", "/api/v1/jobs/{ref}/resume", { path: { ref } }),
  },
  {
    name: "Cancel",
    warning: "Their processes end, and they cannot be resumed.",
    isFor: (phase) => !isOver(phase) && phase !== "Stopping",
    run: (ref) => change("post", "/api/v1/jobs/{ref}/cancel", { path: { ref } }),
  },
  {
    name: "Rerun",
    warning: "",
    isFor: () => true,
    run: (ref, key) =>
      change("post", "/api/v1/jobs/{ref}/rerun", { path: { ref }, headers: { "Idempotency-Key": key } }),
  },
  {
    name: "Delete",
    warning: "Those that run are ended. Their logs, metrics and output files are gone for good.",
    isFor: () => true,
    run: (ref) => change("delete", "/api/v1/jobs/{ref}", { path: { ref } }),
  },
];

const AT_A_TIME = 4;

export interface Failed {
  id: string;
  name: string;
  error: unknown;
}

/** Do it with all jobs that it is for, once for a key; those with which it did not work. */
export async function perform(action: Action, jobs: readonly Job[], key: string): Promise<Failed[]> {
  const failed: Failed[] = [];
  const left = jobs.filter((job) => action.isFor(job.status.phase));
  const worker = async () => {
    for (let job = left.shift(); job; job = left.shift()) {
      const { id, name } = job.metadata;
      await action.run(id, `${key}-${id}`).catch((error: unknown) => failed.push({ id, name, error }));
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
  return failed;
}
