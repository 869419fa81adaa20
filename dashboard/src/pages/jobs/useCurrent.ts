import { useQueries } from "@tanstack/react-query";
import { get } from "../../data/client";
import { ApiError } from "../../data/errors";
import { KEYS } from "../../data/queries";
import type { Job } from "./actions";

/**
 * Jobs as they are now, which were read a while ago; those that were deleted are left out.
 *
 * Only those are read again that live events name, so that many of them cost nothing while nothing happens.
 */
export function useCurrent(jobs: readonly Job[]): readonly Job[] {
  return useQueries({
    queries: jobs.map((job) => ({
      queryKey: [KEYS.job, job.metadata.id, "current"],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        get("/api/v1/jobs/{ref}", { path: { ref: job.metadata.id }, signal }),
      initialData: job,
      staleTime: Infinity,
      gcTime: 0,
    })),
    combine: (results) =>
      results.flatMap(({ data, error }) => (error instanceof ApiError && error.status === 404 ? [] : [data])),
  });
}
