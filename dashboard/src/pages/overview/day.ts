/** The hours of the last day, those without jobs too. Pure. */

export interface HourCounts {
  hour: string;
  counts: Record<string, number>;
}

export const HOURS = 24;

export function lastDay(hours: readonly HourCounts[], now: number): HourCounts[] {
  const known = new Map(hours.map((each) => [Date.parse(each.hour), each.counts]));
  const hour = 3_600_000;
  const last = Math.floor(now / hour) * hour;
  return Array.from({ length: HOURS }, (_, index) => {
    const time = last - (HOURS - 1 - index) * hour;
    return { hour: new Date(time).toISOString(), counts: known.get(time) ?? {} };
  });
}

export function sumOf(hours: readonly HourCounts[], name: string): number {
  return hours.reduce((sum, each) => sum + (each.counts[name] ?? 0), 0);
}
