/** What a job or a cluster has cost, in a sentence. Pure: the present moment comes in from outside. */
import { money } from "./format";

interface Usage {
  cost?: number | null;
  costSince?: string | null;
  pricePerHour?: number | null;
  saved?: number | null;
}

/** What it has cost until now, what an hour costs, and how much it may cost. */
export function costText(usage: Usage, budget: Record<string, unknown> | null | undefined, now: number) {
  const hours = usage.costSince ? Math.max(0, now - Date.parse(usage.costSince)) / 3_600_000 : 0;
  const spent = (usage.cost ?? 0) + hours * (usage.pricePerHour ?? 0);
  const most = budget?.["limit"];
  const limit = typeof most === "number" ? ` of at most ${money(most)}` : "";
  const parts = [money(spent) + limit];
  if (usage.pricePerHour) parts.push(`${money(usage.pricePerHour)} an hour`);
  if (usage.saved) parts.push(`${money(usage.saved)} less than on demand`);
  return parts.join(", ");
}
