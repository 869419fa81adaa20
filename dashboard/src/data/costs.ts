/** What jobs have cost, budgets, and what clouds charge. */
import { queryOptions } from "@tanstack/react-query";
import { get, type Schemas } from "./client";
import { KEYS } from "./queries";

export type CostSum = Schemas["UsageSum"];
export type Budget = Schemas["BudgetView"];
export type Price = Schemas["PriceInfo"];

/** How often they are read again, in milliseconds: live events tell only of jobs. */
const PACE = 15_000;
/** The catalog changes when somebody fetches it. */
const SELDOM = 300_000;

export type CostGroup = "job" | "user" | "label" | "cluster" | "backend" | "day";

export function costsQuery(by: CostGroup, key: string, since: string) {
  return queryOptions({
    queryKey: [KEYS.overview, "costs", by, key, since],
    queryFn: ({ signal }) =>
      get("/api/v1/usage", { query: { by, key: by === "label" ? key : "", since }, signal }),
    enabled: by !== "label" || key !== "",
    refetchInterval: PACE,
  });
}

export const budgetsQuery = queryOptions({
  queryKey: [KEYS.overview, "budgets"],
  queryFn: async ({ signal }) => (await get("/api/v1/budgets", { signal })).items,
  refetchInterval: PACE,
});

export const acceleratorsQuery = queryOptions({
  queryKey: ["prices"],
  queryFn: async ({ signal }) => (await get("/api/v1/prices", { signal })).items,
  staleTime: SELDOM,
});

export function pricesQuery(accelerator: string, count: number, cloud: string, everywhere: boolean) {
  return queryOptions({
    queryKey: ["prices", accelerator, count, cloud, everywhere],
    queryFn: ({ signal }) =>
      get("/api/v1/prices/{accelerator}", {
        path: { accelerator },
        query: { count, cloud, all_regions: everywhere },
        signal,
      }),
    enabled: accelerator !== "",
    staleTime: SELDOM,
  });
}
