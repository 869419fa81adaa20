/** How long an attempt of a job has run. Pure. */
import type { Schemas } from "../../data/client";

/** No event tells that time passes: of one that runs, what has passed since the server answered is added. */
export function secondsOf(
  { startTime, endTime, seconds }: Pick<Schemas["Attempt"], "startTime" | "endTime" | "seconds">,
  passed: number,
): number {
  return startTime && !endTime ? seconds + Math.max(0, passed) : seconds;
}
