/** Jobs side by side: parameters that differ, what came of each, and which is the best. Pure. */

export interface Summary {
  last: number;
  minimum: number;
  maximum: number;
  step: number | null;
}

export interface Compared {
  id: string;
  name: string;
  phase: string;
  parameters: Readonly<Record<string, string>>;
  metrics: Readonly<Record<string, Summary>>;
  /** Seconds from start to end, or to now; null: it has not started. */
  seconds: number | null;
  gpuHours: number;
  /** Why it ended as it did; empty: it succeeded or has not ended. */
  end: string;
}

interface Usage {
  gpuHours: number;
  runningSince?: string | null;
  gpus?: number | null;
}

/** The parts of a job that are compared. */
export interface Job {
  metadata: { id: string; name: string };
  spec: { parameters?: Readonly<Record<string, string>> };
  status: {
    phase: string;
    reason: string;
    message: string;
    startTime: string | null;
    completionTime: string | null;
    failure?: unknown;
    usage?: Usage | null;
  };
}

/** The percentage that is done is no result to compare. */
const PROGRESS = "progress";

export function compared(job: Job, metrics: Readonly<Record<string, Summary>>, now: number): Compared {
  const { status } = job;
  const end = status.completionTime ? Date.parse(status.completionTime) : now;
  return {
    id: job.metadata.id,
    name: job.metadata.name,
    phase: status.phase,
    parameters: job.spec.parameters ?? {},
    metrics,
    seconds: status.startTime ? Math.max(0, (end - Date.parse(status.startTime)) / 1000) : null,
    gpuHours: gpuHours(status.usage, now),
    end: endOf(status),
  };
}

function gpuHours(usage: Usage | null | undefined, now: number): number {
  if (!usage) return 0;
  const running = usage.runningSince ? Math.max(0, now - Date.parse(usage.runningSince)) / 3_600_000 : 0;
  return usage.gpuHours + running * (usage.gpus ?? 0);
}

function endOf(status: Job["status"]): string {
  if (status.phase !== "Failed" && status.phase !== "Cancelled") return "";
  const { summary } = (status.failure ?? {}) as { summary?: unknown };
  return typeof summary === "string" && summary ? summary : status.message || status.reason;
}

/** The parameters that are not the same everywhere. */
export function differing(jobs: readonly Compared[]): string[] {
  const names = new Set(jobs.flatMap((job) => Object.keys(job.parameters)));
  return [...names].filter((name) => new Set(jobs.map((job) => job.parameters[name])).size > 1);
}

/** The metrics that any of the jobs has reported. */
export function metricNames(jobs: readonly Compared[]): string[] {
  const names = [...new Set(jobs.flatMap((job) => Object.keys(job.metrics)))];
  const results = names.filter((name) => name !== PROGRESS);
  return results.length > 0 ? results : names;
}

export type Goal = "min" | "max";

/** The best value that a job has reached, as the goal says. */
export function reached(job: Compared, metric: string, goal: Goal): number | null {
  const found = job.metrics[metric];
  if (!found) return null;
  const value = goal === "min" ? found.minimum : found.maximum;
  return Number.isFinite(value) ? value : null;
}

/** The id of the job that has reached the best value; empty: none has reported any. */
export function best(jobs: readonly Compared[], metric: string, goal: Goal): string {
  let found: { id: string; value: number } | null = null;
  for (const job of jobs) {
    const value = reached(job, metric, goal);
    if (value === null) continue;
    if (!found || (goal === "min" ? value < found.value : value > found.value)) found = { id: job.id, value };
  }
  return found?.id ?? "";
}

/** Losses and errors are to be small, everything else large, until somebody says otherwise. */
export function usualGoal(metric: string): Goal {
  return /loss|error|err\b|perplexity|ppl|time|latency|rmse|mae|mse/i.test(metric) ? "min" : "max";
}

/** The references in `?jobs=a,b&jobs=c`, each once. */
export function referencesOf(values: readonly string[]): string[] {
  return [...new Set(values.flatMap((text) => text.split(",")).map((text) => text.trim()))].filter(Boolean);
}

export interface Point {
  step: number | null;
  time: string;
  value: number;
}

/** Curves over one axis: steps where all have them, else seconds since the first point of each. */
export function aligned(curves: readonly (readonly Point[])[]): {
  unit: "step" | "seconds";
  data: [number[], ...(number | null)[][]];
} {
  const hasSteps = curves.every((points) => points.every((point) => point.step !== null));
  const maps = curves.map((points) => {
    const start = Date.parse(points[0]?.time ?? "");
    return new Map(
      points.map((point) => [
        hasSteps ? (point.step ?? 0) : (Date.parse(point.time) - start) / 1000,
        point.value,
      ]),
    );
  });
  const xs = [...new Set(maps.flatMap((map) => [...map.keys()]))].sort((a, b) => a - b);
  return {
    unit: hasSteps ? "step" : "seconds",
    data: [xs, ...maps.map((map) => xs.map((x) => map.get(x) ?? null))],
  };
}
