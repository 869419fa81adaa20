/** What the page of the clusters shows of worker pools. Pure. */
import type { Worker, WorkerPool } from "../../data/workerPools";

const PHASES: Readonly<Record<string, string>> = {
  STARTING: "Waits for its nodes",
  SETTING_UP: "Is being set up",
  READY: "Ready",
  FAILED: "Failed",
  NO_WORKERS: "Has no workers now",
  SHUTTING_DOWN: "Is being released",
};

/** A state in words; one of a newer server as it is. */
export function phaseText(phase: string): string {
  return PHASES[phase] ?? phase;
}

/** `1 of 2 ready`, or `1 ready, 1 to 4` where the queue decides how many there are. */
export function workersText({ spec, status }: WorkerPool): string {
  const { minWorkers, maxWorkers } = spec;
  if (minWorkers === maxWorkers) return `${status.readyWorkers} of ${maxWorkers} ready`;
  return `${status.readyWorkers} ready, ${minWorkers} to ${maxWorkers}`;
}

/** What the server calls its own machine, where every worker of the place `local` is. */
const HERE = "this";

/** `warm-1`, with its nodes where they are known: `warm-1 on h2, h3`. */
export function workerText({ name, nodes }: Worker): string {
  const hosts = nodes.map((node) => node.host).filter((host) => host && host !== HERE);
  return hosts.length > 0 ? `${name} on ${hosts.join(", ")}` : name;
}
