/** Clusters that somebody holds, and their queues. */
import { queryOptions } from "@tanstack/react-query";
import { change, get, type Schemas } from "./client";
import { KEYS } from "./queries";

export type Cluster = Schemas["ClusterInfo"];
export type ClusterJob = Schemas["ClusterJob"];
export type Autostop = Schemas["Autostop"];

/** How often clusters are read again, in milliseconds: live events tell of jobs alone. */
const PACE = 5_000;

export const clustersQuery = queryOptions({
  queryKey: [KEYS.jobs, "clusters"],
  queryFn: async ({ signal }) => (await get("/api/v1/clusters", { signal })).items,
  refetchInterval: PACE,
});

export function clusterQuery(name: string) {
  return queryOptions({
    queryKey: [KEYS.jobs, "cluster", name],
    queryFn: ({ signal }) => get("/api/v1/clusters/{name}", { path: { name }, signal }),
    refetchInterval: PACE,
  });
}

export function clusterJobsQuery(name: string) {
  return queryOptions({
    queryKey: [KEYS.jobs, "cluster", name, "jobs"],
    queryFn: async ({ signal }) =>
      (await get("/api/v1/clusters/{name}/jobs", { path: { name }, signal })).items,
    refetchInterval: PACE,
  });
}

/** Something that is done with a cluster. */
export type ClusterWish =
  | { does: "start" }
  | { does: "stop" }
  | { does: "down"; purge: boolean }
  | { does: "autostop"; at: Autostop | null };

export function act(name: string, wish: ClusterWish): Promise<Cluster> {
  const path = { name };
  switch (wish.does) {
    case "start":
      return change("post", "/api/v1/clusters/{name}/start", { path });
    case "stop":
      return change("post", "/api/v1/clusters/{name}/stop", { path });
    case "down":
      return change("delete", "/api/v1/clusters/{name}", { path, query: { purge: wish.purge } });
    case "autostop":
      return change("post", "/api/v1/clusters/{name}/autostop", {
        path,
        body: { idle_minutes: wish.at?.idleMinutes ?? null, down: wish.at?.down ?? false },
      });
  }
}
