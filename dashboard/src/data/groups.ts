/** Job groups: jobs whose tasks run side by side. */
import { infiniteQueryOptions } from "@tanstack/react-query";
import { get } from "./client";
import { KEYS } from "./queries";

const LABEL = "trainway.dev/job-group";
/** How many are read at a time. */
const PAGE = 50;

export const groupsQuery = infiniteQueryOptions({
  queryKey: [KEYS.jobs, "groups"],
  queryFn: ({ signal, pageParam }) =>
    get("/api/v1/jobs", {
      query: { label: [LABEL], fields: "summary", limit: PAGE, cursor: pageParam },
      signal,
    }),
  initialPageParam: "",
  getNextPageParam: (last) => last.cursor,
});
