/** Clouds of which machines are rented: who we are there, and what is rented. */
import { queryOptions } from "@tanstack/react-query";
import { get, type Schemas } from "./client";
import { KEYS } from "./queries";

export type Cloud = Schemas["Cloud"];
export type Rented = Schemas["Rented"];
export type Refusal = Schemas["Refusal"];

/** Asks each cloud, which takes a while: again only when somebody wants it. */
export const cloudsQuery = queryOptions({
  queryKey: ["clouds"],
  queryFn: async ({ signal }) => (await get("/api/v1/clouds", { signal })).items,
  staleTime: 300_000,
});

/** What the server knows by itself. */
export const rentedQuery = queryOptions({
  queryKey: [KEYS.jobs, "rented"],
  queryFn: ({ signal }) => get("/api/v1/clouds/rented", { signal }),
  refetchInterval: 5_000,
});
