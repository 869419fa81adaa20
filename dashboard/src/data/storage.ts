/** Volumes that people have named, and buckets that tasks have named. */
import { queryOptions } from "@tanstack/react-query";
import { get, type Schemas } from "./client";
import { KEYS } from "./queries";

export type Volume = Schemas["Volume"];
export type Bucket = Schemas["Bucket"];

/** How often they are read again, in milliseconds: live events tell only of jobs. */
const PACE = 10_000;

export const volumesQuery = queryOptions({
  queryKey: [KEYS.jobs, "volumes"],
  queryFn: async ({ signal }) => (await get("/api/v1/volumes", { signal })).items,
  refetchInterval: PACE,
});

export const bucketsQuery = queryOptions({
  queryKey: [KEYS.jobs, "buckets"],
  queryFn: async ({ signal }) => (await get("/api/v1/storage", { signal })).items,
  refetchInterval: PACE,
});
