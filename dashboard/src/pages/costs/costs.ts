/** By what costs are added up, and how a sum is named. Pure. */
import type { CostGroup, CostSum } from "../../data/costs";

export const GROUPS: readonly { by: CostGroup; title: string }[] = [
  { by: "job", title: "Job" },
  { by: "user", title: "User" },
  { by: "label", title: "Label" },
  { by: "cluster", title: "Cluster" },
  { by: "backend", title: "Backend" },
  { by: "day", title: "Day" },
];

export function groupOf(text: string): CostGroup {
  return GROUPS.find((group) => group.by === text)?.by ?? "job";
}

/** Those that have cost something; where time is what counts, also days without costs. */
export function costly(items: readonly CostSum[], by: CostGroup): CostSum[] {
  return items.filter((item) => by === "day" || Boolean(item.cost) || Boolean(item.saved));
}

/** What tells a sum from others: of jobs, which may have the same name, the id. */
export function rowKey(item: CostSum): string {
  return item.id ? `${item.name} ${item.id}` : `=${item.name}`;
}
