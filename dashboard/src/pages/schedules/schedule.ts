/** What a schedule says, in words. Pure. */
import type { CatchUp, Overlap, Schedule } from "../../data/schedules";

interface Choice<T> {
  value: T;
  label: string;
}

export const CATCH_UP: readonly Choice<CatchUp>[] = [
  { value: "once", label: "one job for all of them" },
  { value: "skip", label: "nothing" },
  { value: "all", label: "one job for each of the last 100" },
];

export const OVERLAP: readonly Choice<Overlap>[] = [
  { value: "forbid", label: "skip the new job" },
  { value: "allow", label: "run both" },
  { value: "replace", label: "cancel the one before" },
];

/** What stands between a schedule and its next job, or what became of the last time; empty: all is well. */
export function remark({ status }: Schedule): string {
  if (status.due.length > 0) return status.waiting ?? "A former job has to end first.";
  return status.last?.message ?? "";
}

/** A moment on the clock of a time zone: `Wed, 18 Nov 2026, 03:00`. */
export function wallTime(moment: string, timezone: string): string {
  const date = new Date(moment);
  if (Number.isNaN(date.getTime())) return moment;
  const options = { weekday: "short", day: "numeric", month: "short", year: "numeric" } as const;
  const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
  try {
    return new Intl.DateTimeFormat("en-GB", { ...options, ...clock, timeZone: timezone }).format(date);
  } catch {
    return moment; // the server knows more time zones than this browser
  }
}

/** Which jobs of the list are those of a schedule. */
export function jobsOf(name: string) {
  return { label: `trainway.dev/schedule=${name}`, group: "none" };
}
