import { keepPreviousData, useQueries } from "@tanstack/react-query";
import { address, get, type Schemas } from "../../data/client";
import { askEarly } from "../../data/early";
import { KEYS, queryClient } from "../../data/queries";
import { useLive } from "../../data/useLive";
import type { WindowQuery } from "./filters";
import { placeOf, windowQuery, windowsOf } from "./windows";

export type Row = Schemas["JobRow"];

/** How often the rows are read while the page does not hear of changes, in milliseconds. */
const POLL = 5_000;

function keyOf(query: WindowQuery, number: number) {
  return [KEYS.jobs, "window", query, number];
}

/** Asks for the first rows at once, before the page is drawn anew that shows them. */
export function askForRows(query: WindowQuery): void {
  if (queryClient.getQueryData(keyOf(query, 0)) !== undefined) return;
  askEarly(address("/api/v1/windows/jobs", {}, windowQuery(query, 0)));
}

/** The rows of the list that are on the screen, and how long the list is. */
export function useJobRows(query: WindowQuery, first: number, last: number, known: number) {
  const live = useLive();
  const numbers = windowsOf(first, last, known);
  return useQueries({
    queries: numbers.map((number) => ({
      queryKey: keyOf(query, number),
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        get("/api/v1/windows/jobs", { query: windowQuery(query, number), signal }),
      placeholderData: keepPreviousData,
      refetchInterval: live === "open" ? (false as const) : POLL,
    })),
    combine: (results) => {
      const total = results.find((result) => result.data)?.data?.total;
      return {
        total,
        error: results.find((result) => result.error)?.error ?? null,
        refetch: () => results.forEach((result) => void result.refetch()),
        rowAt: (row: number): Row | undefined => {
          const { window, index } = placeOf(row);
          const result = results[numbers.indexOf(window)];
          return result?.isPlaceholderData && window > 0 ? undefined : result?.data?.items[index];
        },
        loaded: results.flatMap((result) => result.data?.items ?? []),
      };
    },
  });
}
