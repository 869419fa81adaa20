/** What the page of a pipeline shows of its tasks. Pure. */
import { elapsed } from "../../components/format";
import { isOver } from "../../components/phases";
import type { Schemas } from "../../data/client";
import type { PipelineTask, Run } from "../../data/pipelines";

export type Job = Schemas["Job"];
const TASK = "trainway.dev/task";

/** A task, and its job where that was not deleted. */
export interface Task extends PipelineTask {
  job: Job | undefined;
}

export function tasksOf(run: Run): Task[] {
  const jobs = new Map(run.jobs.map((job) => [job.metadata.labels[TASK], job]));
  return (run.pipeline?.tasks ?? []).map((task) => ({ ...task, job: jobs.get(task.name) }));
}

export function phaseOf(task: Task): string {
  return task.job?.status.phase ?? "Deleted";
}

/** How long a task has run; empty: it has not started. */
export function durationOf({ job }: Task, now: number): string {
  return job?.status.startTime ? elapsed(job.status.startTime, job.status.completionTime, now) : "";
}

/** From the first start to the last end, or until now; empty: nothing has started. */
export function spanOf(tasks: readonly Task[], now: number): string {
  const jobs = tasks.flatMap((task) => task.job ?? []);
  const starts = jobs.flatMap((job) => job.status.startTime ?? []).sort();
  if (starts.length === 0) return "";
  const ends = jobs.flatMap((job) => job.status.completionTime ?? []).sort();
  const isDone = jobs.every((job) => isOver(job.status.phase));
  return elapsed(starts[0], isDone ? ends.at(-1) : undefined, now);
}

/** A task, and all that come after it, in the order of the file. */
export function since(tasks: readonly Task[], name: string): Task[] {
  const found = new Set([name]);
  for (let size = 0; size < found.size;) {
    size = found.size;
    for (const task of tasks) if (task.after.some((each) => found.has(each))) found.add(task.name);
  }
  return tasks.filter((task) => found.has(task.name));
}

/**
 * The tasks that would run again from one on; none: they cannot. The server decides by the same rule: all of them
 * have ended, and what they come after has succeeded or is on its way.
 */
export function againFrom(tasks: readonly Task[], name: string): Task[] {
  const again = since(tasks, name);
  const names = new Set(again.map((task) => task.name));
  const before = again.flatMap((task) => task.after).filter((each) => !names.has(each));
  const isReady = before.every((each) => {
    const task = tasks.find((other) => other.name === each);
    return task?.job !== undefined && !["Failed", "Cancelled"].includes(phaseOf(task));
  });
  return isReady && again.every((task) => task.job && isOver(phaseOf(task))) ? again : [];
}

/** `4 tasks: 1 Succeeded, 3 Queued`, as far as their jobs were not deleted. */
export function countsText(run: Run): string {
  return Object.entries(run.status.phases)
    .map(([phase, number]) => `${number} ${phase}`)
    .join(", ");
}

/** A name with as many letters as there is room for. */
export function shortened(name: string, most: number): string {
  return name.length <= most ? name : `${name.slice(0, most - 1)}…`;
}
