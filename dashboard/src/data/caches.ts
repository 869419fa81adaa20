/** Tables that are served to jobs. */
import { queryOptions } from "@tanstack/react-query";
import { get, type Schemas } from "./client";
import { KEYS } from "./queries";

export type DataCache = Schemas["DataCache"];

/** How often they are read again, in milliseconds: live events do not tell how far a head is. */
const PACE = 5_000;

export const cachesQuery = queryOptions({
  queryKey: [KEYS.jobs, "caches"],
  queryFn: async ({ signal }) => (await get("/api/v1/caches", { signal })).items,
  refetchInterval: PACE,
});
