/** What the page of a job group shows of its tasks. Pure. */
import type { Schemas } from "../../data/client";

export type Job = Schemas["Job"];

/** A task of a group. */
export interface Member {
  name: string;
  /** Whether the group ends with it; of a group that names no such task all are. */
  isPrimary: boolean;
  nodes: number;
  phase: string;
}

/** The phases of nodes, from what matters most; a task is in the first one that a node of it is in. */
const ORDER = ["Failed", "Running", "Pending", "Succeeded"];

/** An auxiliary task is killed when the primary ones are done, which is no failure. */
const ENDED = "Ended";

/** The tasks of a group, in the order of its file; none: the job is no group. */
export function membersOf(job: Job): Member[] {
  const { spec } = (job.spec.objects ?? []).map(record).find(({ kind }) => kind === "Task") ?? {};
  const { header, tasks } = record(spec);
  const { execution, primary_tasks: named } = record(header);
  if (execution !== "parallel") return [];
  const primary = list(named).map(String);
  const nodes = (job.status.nodes ?? [])
    .map(record)
    .map(({ role, phase }) => ({ role, phase: String(phase) }));
  const roles = [...new Set(nodes.map((node) => node.role))];
  return list(tasks).map((each, index) => {
    const name = nameOf(each) ?? `task ${index + 1}`;
    const phases = nodes.filter((node) => node.role === roles[index]).map((node) => node.phase);
    const isPrimary = primary.length === 0 || primary.includes(name);
    const phase = ORDER.find((each) => phases.includes(each)) ?? "Pending";
    const isEnded = !isPrimary && phase === "Failed" && job.status.phase === "Succeeded";
    return { name, isPrimary, nodes: phases.length, phase: isEnded ? ENDED : phase };
  });
}

function nameOf(item: unknown): string | undefined {
  const { task } = record(item);
  const { name } = record(task);
  return typeof name === "string" ? name : undefined;
}

/** `2 nodes, Running`. */
export function saidOf({ nodes, phase }: Member): string {
  return `${nodes} ${nodes === 1 ? "node" : "nodes"}, ${phase}`;
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
