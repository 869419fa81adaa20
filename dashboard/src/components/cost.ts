/** What a job, a run or a cluster has cost, in a sentence. Pure: the present moment comes in from outside. */
import { money } from "./format";

interface Usage {
  cost?: number | null;
  costSince?: string | null;
  pricePerHour?: number | null;
  saved?: number | null;
}

/** A part of a status whose fields the server's description leaves open. */
type Open = Readonly<Record<string, unknown>> | null | undefined;

/** The parts of the status of a job or a run that tell of money. */
export interface Costly {
  usage?: Open;
  budget?: Open;
}

/** How a limit stands: the server warns when 80 % is spent, and ends what runs when all is. */
export type Standing = "fine" | "near" | "spent";
const NEAR = 80;
/** More than products and quotients of floating-point numbers are off. */
const ROUNDING = 1e-9;

export const STANDINGS: Readonly<Record<Standing, string>> = {
  fine: "",
  near: "80 % or more is spent",
  spent: "All of it is spent",
};

/** What something has cost, and how much of its limit that is. */
export interface Spending {
  text: string;
  /** Of the limit, in percent; null: there is no limit, or no price. */
  percent: number | null;
  standing: Standing;
}

/** What it has cost until now, what an hour costs, and how much it may cost. */
export function costText(usage: Usage, budget: Open, now: number): string {
  const limit = limitOf(budget);
  const parts = [money(spentOf(usage, now)) + (limit === null ? "" : ` of at most ${money(limit)}`)];
  if (usage.pricePerHour) parts.push(`${money(usage.pricePerHour)} an hour`);
  if (usage.saved) parts.push(`${money(usage.saved)} less than on demand`);
  return parts.join(", ");
}

/** The same with what it means; null: no price is known, and there is no limit. */
export function spendingOf({ usage, budget }: Costly, now: number): Spending | null {
  const limit = limitOf(budget);
  const told: Usage = {
    cost: number(usage, "cost"),
    costSince: text(usage, "costSince"),
    pricePerHour: number(usage, "pricePerHour"),
    saved: number(usage, "saved"),
  };
  if (told.cost === null) {
    if (limit === null) return null;
    const said = `at most ${money(limit)}, no price is known so far`;
    return { text: said, percent: null, standing: standingOf(budget, 0) };
  }
  const percent = limit === null ? null : Math.floor((100 * spentOf(told, now)) / limit + ROUNDING);
  return { text: costText(told, budget, now), percent, standing: standingOf(budget, percent ?? 0) };
}

/** A limit where the costs themselves are not told, as in a list: `$50.00, 80 % or more is spent`; empty: none. */
export function limitText(budget: Open): string {
  const limit = limitOf(budget);
  if (limit === null) return "";
  const standing = STANDINGS[standingOf(budget, 0)];
  return standing ? `${money(limit)}, ${standing.charAt(0).toLowerCase()}${standing.slice(1)}` : money(limit);
}

/** When a run was ended since all that it may cost was spent, and how much that is; null: it was not. */
export function endOf(budget: Open): { limit: number; time: string } | null {
  const limit = limitOf(budget);
  const time = text(budget, "ended");
  return limit === null || !time ? null : { limit, time };
}

function spentOf({ cost, costSince, pricePerHour }: Usage, now: number): number {
  const hours = costSince ? Math.max(0, now - Date.parse(costSince)) / 3_600_000 : 0;
  return (cost ?? 0) + hours * (pricePerHour ?? 0);
}

function standingOf(budget: Open, percent: number): Standing {
  if (text(budget, "ended") || percent >= 100) return "spent";
  return text(budget, "warned") || percent >= NEAR ? "near" : "fine";
}

function limitOf(budget: Open): number | null {
  return number(budget, "limit");
}

function number(open: Open, name: string): number | null {
  const value = open?.[name];
  return typeof value === "number" ? value : null;
}

function text(open: Open, name: string): string | null {
  const value = open?.[name];
  return typeof value === "string" ? value : null;
}
