/** Runs: several jobs of one submission. */
import { queryOptions } from "@tanstack/react-query";
import { get } from "./client";

/** How often the costs of a run are read again, in milliseconds; what an hour costs is known in between. */
const PACE = 30_000;

/**
 * What a run has cost. No live event has it read again: the answer has all jobs of the run, of which there may be a
 * thousand. Where nothing costs anything, it is read once.
 */
export function runCostsQuery(run: string) {
  return queryOptions({
    queryKey: ["run-costs", run],
    queryFn: async ({ signal }) => {
      const { metadata, status } = await get("/api/v1/runs/{run}", { path: { run }, signal });
      return { metadata, status };
    },
    refetchInterval: ({ state }) => (state.data?.status.usage || state.data?.status.budget ? PACE : false),
  });
}
