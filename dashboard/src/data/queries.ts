/** What the pages ask the server for. A page uses these, and never `fetch`. */
import { QueryCache, QueryClient, queryOptions, type Query } from "@tanstack/react-query";
import { get } from "./client";
import { isPassing } from "./errors";

/** How long after a failure that may pass the same is asked again, in milliseconds. */
const PAUSE = 5_000;

/** How often it is asked at once before a page says what failed: that takes three seconds. */
const RETRIES = 2;

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
      retry: (count, error) => isPassing(error) && count < RETRIES,
      refetchOnWindowFocus: true,
    },
  },
});

const failures = new WeakMap<Query, Error>();

// While what failed is read again, the failure goes on to be shown, and not for a few seconds of each try.
queryClient.getQueryCache().subscribe((event) => {
  if (event.type !== "updated") return;
  const { query, action } = event;
  if (action.type === "success") failures.delete(query);
  if (action.type === "error" && query.state.error) failures.set(query, query.state.error);
  const error = failures.get(query);
  if (action.type === "fetch" && error && query.state.status === "pending") {
    query.setState({ error, status: "error" });
  }
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
