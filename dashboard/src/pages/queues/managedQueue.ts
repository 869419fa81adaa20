/** What a queue of this server allows and uses, in words. Pure. */
import { amount, amountText } from "../../components/amounts";
import type { ManagedQueue } from "../../data/managedQueues";

export interface QueueBar {
  name: string;
  used: number;
  quota: number;
  /** `3 of 8 used`. */
  label: string;
}

/** A bar for each quota, also for that of GPU-hours. */
export function barsOf({ spec, status }: ManagedQueue): QueueBar[] {
  const quotas = Object.entries((spec["quota"] ?? {}) as Record<string, unknown>);
  const bars = quotas.map(([name, quota]) => bar(name, status.used[name] ?? 0, quota));
  const hours = spec["gpuHoursPerMonth"];
  if (typeof hours === "number") bars.push(bar("GPU-hours this month", status.gpuHoursUsed, hours));
  return bars;
}

function bar(name: string, used: unknown, quota: unknown): QueueBar {
  const [part, whole] = [String(used), String(quota)];
  return {
    name,
    used: amount(part) || 0,
    quota: amount(whole) || 0,
    label: `${name}: ${amountText(name, part)} of ${amountText(name, whole)} used`,
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
