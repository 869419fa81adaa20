/** The phases of a job, as the server names them. */

export interface PhaseLook {
  color: "blue" | "green" | "red" | "orange" | "grey" | "purple" | "teal";
  icon: "waiting" | "running" | "paused" | "good" | "bad" | "stopped" | "warning";
  /** What it means, for a newcomer. */
  meaning: string;
}

export const PHASES = {
  Pending: { color: "grey", icon: "waiting", meaning: "The job was accepted and is not in a queue yet." },
  Queued: { color: "purple", icon: "waiting", meaning: "The job waits until all of it fits." },
  Inadmissible: {
    color: "orange",
    icon: "warning",
    meaning: "The job would not fit even on an empty backend.",
  },
  Starting: { color: "teal", icon: "running", meaning: "The job's processes are being started." },
  Running: { color: "blue", icon: "running", meaning: "The job runs." },
  Restarting: { color: "orange", icon: "running", meaning: "The job failed, and its next attempt begins." },
  Paused: { color: "grey", icon: "paused", meaning: "The job is suspended until somebody resumes it." },
  Stopping: { color: "orange", icon: "stopped", meaning: "The job is being ended." },
  Succeeded: { color: "green", icon: "good", meaning: "The job ended without an error." },
  Failed: { color: "red", icon: "bad", meaning: "The job ended with an error." },
  Cancelled: { color: "grey", icon: "stopped", meaning: "Somebody ended the job." },
} as const satisfies Record<string, PhaseLook>;

export type Phase = keyof typeof PHASES;
export const PHASE_NAMES = Object.keys(PHASES) as Phase[];
export const TERMINAL: readonly Phase[] = ["Succeeded", "Failed", "Cancelled"];

export function isPhase(name: string): name is Phase {
  return Object.hasOwn(PHASES, name);
}

export function isOver(phase: string): boolean {
  return (TERMINAL as readonly string[]).includes(phase);
}

/** What the phases of a node of a job mean. */
const OF_NODES: Readonly<Record<string, string>> = {
  Pending: "The node has not started yet.",
  Running: "The program of the node runs.",
  Succeeded: "The program of the node ended without an error.",
  Failed: "The program of the node ended with an error, or could not run.",
};

export function nodeMeaning(phase: string): string {
  return OF_NODES[phase] ?? "";
}
