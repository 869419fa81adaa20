/** What a queue of this server allows and uses, in words. Pure. */
import { amount, amountText } from "../../components/amounts";
import type { ManagedQueue } from "../../data/managedQueues";

export interface QueueBar {
  name: string;
  used: number;
  quota: number;
  /** `jobs: 3 of 8 used`, or `jobs: 9 of 8 used, 1 borrowed`. */
  label: string;
}

/** A bar for each quota, also for that of GPU-hours. */
export function barsOf({ spec, status }: ManagedQueue): QueueBar[] {
  const quotas = Object.entries((spec["quota"] ?? {}) as Record<string, unknown>);
  const above = spec["cohort"] ? "borrowed" : "above the quota";
  const bars = quotas.map(([name, quota]) => bar(name, status.used[name] ?? 0, quota, above));
  const hours = spec["gpuHoursPerMonth"];
  if (typeof hours === "number")
    bars.push(bar("GPU-hours this month", status.gpuHoursUsed, hours, "above the quota"));
  return bars;
}

/** `above`: what is said of that which is more than the quota. */
function bar(name: string, used: unknown, quota: unknown, above: string): QueueBar {
  const [part, whole] = [String(used), String(quota)];
  const more = amount(part) - amount(whole);
  const lent = more > 0 ? `, ${amountText(name, String(more))} ${above}` : "";
  return {
    name,
    used: amount(part) || 0,
    quota: amount(whole) || 0,
    label: `${name}: ${amountText(name, part)} of ${amountText(name, whole)} used${lent}`,
  };
}

/** What else somebody has said of it, with its name. */
export function rulesOf({ spec }: ManagedQueue): [string, string][] {
  const names = { cohort: "Cohort", weight: "Weight", preemption: "Preemption", eviction: "Eviction" };
  return Object.entries(names).flatMap(([key, name]): [string, string][] => {
    const value = spec[key];
    return typeof value === "string" || typeof value === "number" ? [[name, String(value)]] : [];
  });
}
