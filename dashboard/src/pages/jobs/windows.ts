/** Which parts of a long list are read: windows of a fixed size around what is on the screen. Pure. */

import type { WindowQuery } from "./filters";

export const WINDOW = 100;

/** What the server is asked for the rows of one window. */
export function windowQuery(query: WindowQuery, number: number): WindowQuery {
  return { ...query, fields: "summary", offset: number * WINDOW, limit: WINDOW };
}

/** The numbers of the windows that hold the rows from one to another. */
export function windowsOf(first: number, last: number, total: number, size = WINDOW): number[] {
  if (total <= 0) return [0];
  const end = Math.min(last, total - 1);
  const from = Math.max(0, Math.floor(Math.min(first, end) / size));
  return Array.from({ length: Math.floor(end / size) - from + 1 }, (_, index) => from + index);
}

/** The window that a row is in, and its place there. */
export function placeOf(row: number, size = WINDOW): { window: number; index: number } {
  return { window: Math.floor(row / size), index: row % size };
}
