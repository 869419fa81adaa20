/** Jobs that are submitted again and again. */
import { queryOptions } from "@tanstack/react-query";
import { change, get, type Schemas } from "./client";
import { optionsOf, type DraftReport } from "./drafts";
import { KEYS } from "./queries";

export type Schedule = Schemas["Schedule"];
export type Firing = Schemas["Firing"];
export type CatchUp = Schemas["CatchUp"];
export type Overlap = Schemas["Overlap"];

/** How often they are read again, in milliseconds: live events tell only of those that submit a job. */
const PACE = 10_000;

export const schedulesQuery = queryOptions({
  queryKey: [KEYS.jobs, "schedules"],
  queryFn: async ({ signal }) => (await get("/api/v1/schedules", { signal })).items,
  refetchInterval: PACE,
});

/** When times are due next, or what is wrong with them. */
export function cronQuery(cron: string, timezone: string) {
  return queryOptions({
    queryKey: ["cron", cron, timezone],
    queryFn: ({ signal }) => change("post", "/api/v1/schedules/check", { body: { cron, timezone }, signal }),
    gcTime: 0,
  });
}

export type ScheduleWish = "pause" | "resume" | "delete";

export function act(name: string, wish: ScheduleWish): Promise<Schedule> {
  const path = { name };
  switch (wish) {
    case "pause":
      return change("post", "/api/v1/schedules/{name}/pause", { path });
    case "resume":
      return change("post", "/api/v1/schedules/{name}/resume", { path });
    case "delete":
      return change("delete", "/api/v1/schedules/{name}", { path });
  }
}

/** When something is to be submitted, and what becomes of what gets in the way. */
export interface Times {
  name: string;
  cron: string;
  timezone: string;
  catchUp: CatchUp;
  overlap: Overlap;
}

/** Creates a schedule of what a report says; a request that is repeated with its key makes no second one. */
export async function create(
  times: Times,
  report: DraftReport,
  backend: string,
  key: string,
): Promise<Schedule> {
  const made = await change("post", "/api/v1/schedules", {
    body: {
      name: times.name,
      cron: times.cron,
      timezone: times.timezone,
      catch_up: times.catchUp,
      overlap: times.overlap,
      paused: false,
      objects: report.objects,
      options: optionsOf(report, backend),
    },
    headers: { "Idempotency-Key": key },
  });
  return made.schedule;
}
