/** Backends with their nodes and queues. Each is asked on its own: one that does not answer holds up no other. */
import { queryOptions } from "@tanstack/react-query";
import { change, get, type Schemas } from "./client";
import { KEYS } from "./queries";
import { turns } from "./turns";

export type NodeInfo = Schemas["NodeInfo"];
export type GpuInfo = Schemas["GpuInfo"];
export type BackendNodes = Schemas["BackendNodes"];
export type JobQueue = Schemas["JobQueue"];
export type QueueDetail = Schemas["QueueDetail"];
export type QueueQuota = Schemas["QueueQuota"];

/** How often a backend is asked again while its page is open, in milliseconds. */
const PACE = 30_000;
const inTurn = turns(3);

export function nodesQuery(backend: string) {
  return queryOptions({
    queryKey: ["nodes", backend],
    queryFn: ({ signal }) =>
      inTurn(() => change("post", "/api/v1/backends/nodes", { body: { backend }, signal })),
    refetchInterval: PACE,
  });
}

/** The queues that a backend has beside those of this server. */
export function backendQueuesQuery(backend: string) {
  return queryOptions({
    queryKey: ["backend-queues", backend],
    queryFn: ({ signal }) =>
      inTurn(() => change("post", "/api/v1/backends/queues", { body: { backend }, signal })),
    refetchInterval: PACE,
  });
}

/** The jobs of this server that wait, by backend. */
export const jobQueuesQuery = queryOptions({
  queryKey: [KEYS.overview, "queues"],
  queryFn: ({ signal }) => get("/api/v1/queues", { signal }),
  refetchInterval: PACE,
});
