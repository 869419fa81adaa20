/** How long a training will go on. Pure. */

export interface Progress {
  progressPercentage?: number | null;
  estimatedRemainingSeconds?: number | null;
  lastUpdatedTime?: string | null;
  metrics?: { name: string; value: string }[] | null;
}

export interface TimeLeft {
  seconds: number;
  /** Whether the training code said so itself; else it follows from how far it has come since its start. */
  isReported: boolean;
}

/** Null: nobody can tell. */
export function timeLeft(
  progress: Progress | null | undefined,
  start: string | null | undefined,
  now: number,
): TimeLeft | null {
  if (!progress) return null;
  const told = Date.parse(progress.lastUpdatedTime ?? "");
  const since = Number.isNaN(told) ? 0 : Math.max(0, (now - told) / 1000);
  const reported = progress.estimatedRemainingSeconds;
  if (typeof reported === "number") return { seconds: Math.max(0, reported - since), isReported: true };
  const percent = progress.progressPercentage;
  const begun = Date.parse(start ?? "");
  if (
    typeof percent !== "number" ||
    percent < 1 ||
    percent > 100 ||
    Number.isNaN(begun) ||
    Number.isNaN(told)
  )
    return null;
  const passed = (told - begun) / 1000;
  if (passed <= 0) return null;
  return { seconds: Math.max(0, (passed * (100 - percent)) / percent - since), isReported: false };
}

/** The metrics of the last report, without those that say how far it is. */
export function lastMetrics(progress: Progress | null | undefined): { name: string; value: string }[] {
  return (progress?.metrics ?? []).filter((metric) => metric.name !== "step" && metric.name !== "epoch");
}

export function counter(progress: Progress | null | undefined, name: "step" | "epoch"): string {
  const found = progress?.metrics?.find((metric) => metric.name === name);
  if (!found) return "";
  const value = Number(found.value);
  return Number.isFinite(value) ? String(Math.round(value * 100) / 100) : found.value;
}
