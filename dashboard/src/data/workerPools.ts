/** Worker pools: workers that are held ready for jobs. */
import { queryOptions } from "@tanstack/react-query";
import { get, type Schemas } from "./client";
import { KEYS } from "./queries";

export type WorkerPool = Schemas["WorkerPoolInfo"];
export type Worker = Schemas["WorkerInfo"];

/** How often worker pools are read again, in milliseconds: live events tell of jobs alone. */
const PACE = 5_000;

export const workerPoolsQuery = queryOptions({
  queryKey: [KEYS.jobs, "worker-pools"],
  queryFn: async ({ signal }) => (await get("/api/v1/worker-pools", { signal })).items,
  refetchInterval: PACE,
});
