/** Where jobs can run, what is there, and what they can name. */
import { queryOptions } from "@tanstack/react-query";
import { change, get, type Schemas } from "./client";
import { backendsQuery as allBackendsQuery } from "./queries";

export type Offer = Schemas["Offer"];
export type QueueInfo = Schemas["QueueInfo"];

export interface Amounts {
  cpu: string;
  memory: string;
  gpus: readonly string[];
}

export interface PoolAmounts {
  cpu: string;
  memory: string;
  gpus: Readonly<Record<string, number>>;
}

export interface Pool {
  name: string;
  nodes: number;
  total: PoolAmounts;
  free: PoolAmounts;
}

export interface Limit {
  name: string;
  resource: string;
  hard: string;
  used: string;
}

export interface Check {
  name: string;
  ok: boolean;
  detail: string;
  fix: string;
}

/** A backend as `trainway doctor` sees it. */
export interface Place {
  name: string;
  checks: readonly Check[];
  /** For every feature the reason why it is missing; empty: it is there. */
  capabilities: Readonly<Record<string, string>>;
  capacity: { total: Amounts; free: Amounts; pools: readonly Pool[]; limits: readonly Limit[] } | null;
}

/** The names of all backends. */
export const backendsQuery = queryOptions({
  ...allBackendsQuery,
  select: (answer) => answer.items.map((item) => item.name),
});

export const runtimesQuery = queryOptions({
  queryKey: ["runtimes"],
  queryFn: async ({ signal }) =>
    (await get("/api/v1/runtimes", { signal })).items as readonly Record<string, unknown>[],
  staleTime: 600_000,
});

/** What one backend has and what is wrong with it; empty: every backend. */
export function placesQuery(backend = "") {
  return queryOptions({
    queryKey: ["places", backend],
    queryFn: async ({ signal }) =>
      (
        await change("post", "/api/v1/backends/check", {
          body: { backend, kubeconfig: [], deep: false },
          signal,
        })
      ).items as unknown as readonly Place[],
    staleTime: 10_000,
  });
}

export function offerQuery(backend: string) {
  return queryOptions({
    queryKey: ["offer", backend],
    queryFn: ({ signal }) => change("post", "/api/v1/backends/offer", { body: { backend }, signal }),
    enabled: backend !== "",
    staleTime: 30_000,
  });
}
