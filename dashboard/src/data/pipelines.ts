/** Pipelines: runs whose tasks come after each other. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { change, get, type Schemas } from "./client";
import { KEYS } from "./queries";

export type Run = Schemas["Run"];
export type PipelineTask = Schemas["PipelineTask"];

/** How many are read at a time. */
const PAGE = 100;

export const pipelinesQuery = infiniteQueryOptions({
  queryKey: [KEYS.runs, "pipelines"],
  queryFn: ({ signal, pageParam }) =>
    get("/api/v1/runs", { query: { pipelines: true, limit: PAGE, cursor: pageParam }, signal }),
  initialPageParam: "",
  getNextPageParam: (last) => last.cursor,
});

export function pipelineQuery(run: string) {
  return queryOptions({
    queryKey: [KEYS.runs, "pipeline", run],
    queryFn: ({ signal }) => get("/api/v1/runs/{run}", { path: { run }, signal }),
  });
}

/** Ends all tasks that have not ended. */
export function cancel(run: string): Promise<Run> {
  return change("post", "/api/v1/runs/{run}/cancel", { path: { run } });
}

/** Submits a task and all that come after it again, in their places; each job is replaced once. */
export function rerunFrom(run: string, task: string) {
  return change("post", "/api/v1/runs/{run}/rerun", { path: { run }, query: { task } });
}
