/** Jobs that tune language models. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { get, type Schemas } from "./client";
import { KEYS } from "./queries";

export type FineTune = Schemas["FineTune"];

/** How many are read at a time: each has a curve of its own. */
const PAGE = 20;
/** How often the curve of one that runs is read again, in milliseconds. */
const PACE = 5_000;
const POINTS = 60;

export const fineTunesQuery = infiniteQueryOptions({
  queryKey: [KEYS.jobs, "finetunes"],
  queryFn: ({ signal, pageParam }) =>
    get("/api/v1/finetunes", { query: { limit: PAGE, cursor: pageParam }, signal }),
  initialPageParam: "",
  getNextPageParam: (last) => last.cursor,
});

/** Its loss, and how many tokens it has seen. */
export function curveQuery(ref: string, isLive: boolean) {
  return queryOptions({
    queryKey: [KEYS.job, ref, "curve"],
    queryFn: ({ signal }) =>
      get("/api/v1/jobs/{ref}/metrics", {
        path: { ref },
        query: { series: ["loss", "num_tokens"], resolution: POINTS },
        signal,
      }),
    refetchInterval: isLive ? PACE : false,
  });
}
