/** The queues of this server: what their jobs may have, and who waits in them. */
import { queryOptions } from "@tanstack/react-query";
import { change, get, type Schemas } from "./client";
import { KEYS } from "./queries";

export type ManagedQueue = Schemas["ManagedQueue"];
export type QueuedJob = Schemas["QueuedJob"];

/** How often they are read again, in milliseconds: live events tell of jobs alone. */
const PACE = 10_000;

export const managedQueuesQuery = queryOptions({
  queryKey: [KEYS.overview, "managed-queues"],
  queryFn: async ({ signal }) => (await get("/api/v1/managed-queues", { signal })).items,
  refetchInterval: PACE,
});

export function managedQueueQuery(name: string) {
  return queryOptions({
    queryKey: [KEYS.overview, "managed-queue", name],
    queryFn: ({ signal }) => get("/api/v1/queues/{name}", { path: { name }, signal }),
    refetchInterval: PACE,
  });
}

export type QueueWish = "pause" | "resume" | "drain" | "delete";

export function act(name: string, wish: QueueWish): Promise<ManagedQueue> {
  const path = { name };
  switch (wish) {
    case "pause":
      return change("post", "/api/v1/queues/{name}/pause", { path });
    case "resume":
      return change("post", "/api/v1/queues/{name}/resume", { path });
    case "drain":
      return change("post", "/api/v1/queues/{name}/drain", { path });
    case "delete":
      return change("delete", "/api/v1/queues/{name}", { path });
  }
}
