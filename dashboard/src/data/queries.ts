/** What the pages ask the server for. A page uses these, and never `fetch`. */
import { QueryCache, QueryClient, queryOptions } from "@tanstack/react-query";
import { get } from "./client";
import { isPassing } from "./errors";

/** How long after a failure that may pass the same is asked again, in milliseconds. */
const PAUSE = 5_000;

export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    // What failed is read again for as long as somebody looks at it: a full disk is emptied, a lock is let go.
    onError: (error, { queryKey }) => {
      if (!isPassing(error)) return;
      setTimeout(() => void queryClient.refetchQueries({ queryKey, exact: true, type: "active" }), PAUSE);
    },
  }),
  defaultOptions: {
    mutations: { networkMode: "always" },
    queries: {
      networkMode: "always", // the server may be on this machine, which needs no network
      staleTime: 10_000,
      gcTime: 5 * 60_000,
      retry: (count, error) => isPassing(error) && count < 3,
      refetchOnWindowFocus: true,
    },
  },
});

/** The first words of the keys, by which live events say what has changed. */
export const KEYS = {
  jobs: "jobs",
  job: "job",
  runs: "runs",
  server: "server",
  overview: "overview",
} as const;

export const serverQuery = queryOptions({
  queryKey: [KEYS.server],
  queryFn: ({ signal }) => get("/api/v1/server", { signal }),
});

/** One job in full; everything else about it belongs below the same key: [KEYS.job, id, "events"]. */
export function jobQuery(ref: string) {
  return queryOptions({
    queryKey: [KEYS.job, ref],
    queryFn: ({ signal }) => get("/api/v1/jobs/{ref}", { path: { ref }, signal }),
  });
}

export const backendsQuery = queryOptions({
  queryKey: ["backends"],
  queryFn: ({ signal }) => get("/api/v1/backends", { signal }),
  staleTime: 60_000,
});

export const overviewQuery = queryOptions({
  queryKey: [KEYS.overview],
  queryFn: ({ signal }) => get("/api/v1/overview", { signal }),
  refetchInterval: 30_000,
});
