/**
 * The part of a log that is in the browser: a few windows that join, whatever the log's size. Pure.
 *
 * Windows are added at either end and dropped at the other one, so that memory stays bounded. Only whole
 * windows are dropped, since only between windows there is a cursor to go on from.
 */
import type { Schemas } from "../../../data/client";

export type LogPage = Schemas["LogWindowAnswer"];
export type LogLine = Schemas["LogWindowLine"];
export type Pages = readonly LogPage[];

/** How many windows are kept: with 500 lines each, more than any screen shows. */
export const MOST_PAGES = 10;
export const PAGE_LINES = 500;

export function linesOf(pages: Pages): LogLine[] {
  return pages.flatMap((page) => page.lines);
}

/** With what was written behind the last window; an empty one only tells how long the log is now. */
export function withNewer(pages: Pages, page: LogPage): Pages {
  const last = pages.at(-1);
  if (page.lines.length === 0 && last) {
    return [...pages.slice(0, -1), { ...last, end: page.end, size: page.size }];
  }
  return [...pages, page].slice(-MOST_PAGES);
}

/** With what is before the first window; it says how many lines came before the others. */
export function withOlder(pages: Pages, page: LogPage): { pages: Pages; added: number } {
  const first = pages[0];
  if (page.lines.length === 0 && first) {
    return { pages: [{ ...first, before: 0 }, ...pages.slice(1)], added: 0 };
  }
  return { pages: [page, ...pages].slice(0, MOST_PAGES), added: page.lines.length };
}

export function isAtStart(pages: Pages): boolean {
  return (pages[0]?.before ?? 0) === 0;
}

export function isAtEnd(pages: Pages): boolean {
  const last = pages.at(-1);
  return !last || last.behind >= last.size;
}

export function sizeOf(pages: Pages): number {
  return pages.at(-1)?.size ?? 0;
}

/** Which share of all bytes is before a line of those that are here: from 0 to 1. */
export function shareAt(pages: Pages, index: number): number {
  const size = sizeOf(pages);
  if (size === 0) return 0;
  let rest = index;
  for (const page of pages) {
    if (rest < page.lines.length) {
      const within = (page.behind - page.before) * (rest / page.lines.length);
      return Math.min(1, (page.before + within) / size);
    }
    rest -= page.lines.length;
  }
  return Math.min(1, (pages.at(-1)?.behind ?? size) / size);
}

/** Which logs: a node, or all of them, in an attempt. */
export interface LogChoice {
  /** `role/job/rank`; empty: all nodes. */
  node: string;
  /** A number, `all`, or empty for the newest one. */
  attempt: string;
}

export function choiceQuery(choice: LogChoice): Record<string, string | number | boolean> {
  const [role, job, rank] = choice.node.split("/");
  const query: Record<string, string | number | boolean> = {};
  if (role && job !== undefined && rank !== undefined)
    Object.assign(query, { role, job: Number(job), rank: Number(rank) });
  if (choice.attempt === "all") query["all_attempts"] = true;
  else if (/^\d+$/.test(choice.attempt)) query["attempt"] = Number(choice.attempt);
  return query;
}
