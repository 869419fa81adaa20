/** What the page of a job asks for beside the job itself. */
import { queryOptions } from "@tanstack/react-query";
import { change, get } from "./client";
import { KEYS } from "./queries";

/** How often something is read again while a job runs, in milliseconds, beside what live events tell. */
const PACE = 4_000;
/** What does not change as the job goes on is not below its key, so that no event has it read again. */
const FIXED = "job-fixed";

export function eventsQuery(ref: string) {
  return queryOptions({
    queryKey: [KEYS.job, ref, "events"],
    queryFn: ({ signal }) => get("/api/v1/jobs/{ref}/events", { path: { ref }, signal }),
  });
}

export function attemptsQuery(ref: string) {
  return queryOptions({
    queryKey: [KEYS.job, ref, "attempts"],
    queryFn: ({ signal }) => get("/api/v1/jobs/{ref}/attempts", { path: { ref }, signal }),
  });
}

export function metricsQuery(ref: string, isLive: boolean) {
  return queryOptions({
    queryKey: [KEYS.job, ref, "metrics"],
    queryFn: ({ signal }) =>
      get("/api/v1/jobs/{ref}/metrics", { path: { ref }, query: { resolution: 800 }, signal }),
    refetchInterval: isLive ? PACE : false,
  });
}

export function usageQuery(ref: string, isLive: boolean) {
  return queryOptions({
    queryKey: [KEYS.job, ref, "usage"],
    queryFn: ({ signal }) =>
      get("/api/v1/jobs/{ref}/metrics", { path: { ref }, query: { resolution: 60, system: true }, signal }),
    refetchInterval: isLive ? PACE : false,
  });
}

export function compiledQuery(ref: string) {
  return queryOptions({
    queryKey: [FIXED, ref, "compiled"],
    queryFn: ({ signal }) => get("/api/v1/jobs/{ref}/compiled", { path: { ref }, signal }),
  });
}

export function outputQuery(ref: string, path: string, isLive: boolean) {
  return queryOptions({
    queryKey: [FIXED, ref, "output", path],
    queryFn: ({ signal }) => get("/api/v1/jobs/{ref}/output", { path: { ref }, query: { path }, signal }),
    refetchInterval: isLive ? 2 * PACE : false,
  });
}

export function stacksQuery(ref: string, attempt: number) {
  return queryOptions({
    queryKey: [FIXED, ref, "stacks", attempt],
    queryFn: ({ signal }) => get("/api/v1/jobs/{ref}/stacks", { path: { ref }, query: { attempt }, signal }),
    retry: false,
  });
}

export function logFilesQuery(ref: string, isLive: boolean) {
  return queryOptions({
    queryKey: [FIXED, ref, "log-files"],
    queryFn: ({ signal }) => get("/api/v1/jobs/{ref}/logs/files", { path: { ref }, signal }),
    refetchInterval: isLive ? 2 * PACE : false,
  });
}

/** What other places offer for a job. All of them are asked, so events do not have it read again. */
export function jobPlacementQuery(ref: string) {
  return queryOptions({
    queryKey: [FIXED, ref, "placement"],
    queryFn: ({ signal }) => change("post", "/api/v1/jobs/{ref}/placement", { path: { ref }, signal }),
    staleTime: 60_000,
  });
}

/** Has a job go on in another place, as the same job. */
export function move(ref: string, on: string) {
  const body = { on, objects: [], kubeconfig: [] };
  return change("post", "/api/v1/jobs/{ref}/move", { path: { ref }, body });
}

/** The jobs of the same name, newest first: what was run before and after. */
export function namesakesQuery(name: string) {
  return queryOptions({
    queryKey: [KEYS.jobs, "namesakes", name],
    queryFn: ({ signal }) => get("/api/v1/jobs", { query: { name, limit: 50, fields: "summary" }, signal }),
  });
}

/** The last lines of a node in an attempt: what it said before it failed. */
export function lastWordsQuery(
  ref: string,
  of: { role: string; job: number; rank: number; attempt: number },
) {
  return queryOptions({
    queryKey: [FIXED, ref, "last-words", of],
    queryFn: ({ signal }) =>
      get("/api/v1/jobs/{ref}/logs/window", { path: { ref }, query: { ...of, lines: 20 }, signal }),
  });
}
