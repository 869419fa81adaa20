/** The nodes of a job, as the server tells of them. Pure. */
import type { Schemas } from "../../../data/client";

export interface JobNode {
  role: string;
  job: number;
  rank: number;
  phase: string;
  ready: boolean;
  restarts: number;
  attempt?: number;
  exitCode?: number;
  lastExitCode?: number;
  startTime?: string;
  endTime?: string;
  reason?: string;
  lastReason?: string;
  message?: string;
  host?: string;
  stopped?: boolean;
  usage?: Record<string, unknown>;
}

export function nodesOf(job: Schemas["Job"]): JobNode[] {
  return (job.status.nodes ?? []) as unknown as JobNode[];
}

/** `node-1`, as in front of log lines; with the number of its Job where there are several. */
export function nodeName(node: Pick<JobNode, "role" | "job" | "rank">): string {
  return node.job ? `${node.role}-${node.job}-${node.rank}` : `${node.role}-${node.rank}`;
}

/** How its program ended: now, or before it was started again. */
export function exitText(node: JobNode): string {
  if (node.exitCode !== undefined) return String(node.exitCode);
  return node.lastExitCode ? `last ${node.lastExitCode}` : "";
}

/**
 * What opens a shell in a node, to be copied into a terminal; empty: no command can name the node.
 *
 * The job is named by its id, since its name may belong to a newer job by then. A role may have several Jobs, and
 * `--rank` means those of the first one.
 */
export function shellCommand(job: string, node: JobNode): string {
  if (node.job > 0) return "";
  return `trainway jobs shell ${job} --role ${node.role} --rank ${node.rank}`;
}

export const RESOURCES = ["cpu", "memory", "gpu"] as const;
export type Resource = (typeof RESOURCES)[number];

const KINDS: Record<Resource, RegExp> = {
  cpu: /^system\/cpu$/,
  memory: /^system\/memory$/,
  gpu: /^system\/gpu\d*\.utilization$/,
};

/** Which of the measured series of a job belong to a node: `system/gpu1.utilization@node-1`. */
export function seriesOf(names: string[], node: string, resource: Resource): string[] {
  return names.filter((name) => {
    const at = name.lastIndexOf("@");
    return name.slice(at + 1) === node && KINDS[resource].test(name.slice(0, at));
  });
}
