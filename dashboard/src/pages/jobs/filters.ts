/** Which jobs the list shows, as the address of the page says it. Pure. */
import type { paths } from "@api";
import { value, values, type Search } from "../../data/search";

export type WindowQuery = NonNullable<paths["/api/v1/windows/jobs"]["get"]["parameters"]["query"]>;
export type SortKey = NonNullable<WindowQuery["sort"]>;

export const SORT_KEYS = [
  "created",
  "name",
  "phase",
  "backend",
  "kind",
  "priority",
  "started",
  "finished",
  "restarts",
] as const satisfies readonly SortKey[];

export interface JobFilters {
  text: string;
  /** Phases, or `active` or `ended`. */
  phase: string[];
  backend: string;
  kind: string;
  user: string;
  since: string;
  run: string;
  label: string[];
  metric: string[];
  sort: SortKey;
  isAscending: boolean;
  isGrouped: boolean;
}

const TEXTS = ["text", "backend", "kind", "user", "since", "run"] as const;

export function filtersOf(search: Search): JobFilters {
  const sort = SORT_KEYS.find((key) => key === value(search, "sort")) ?? "created";
  const run = value(search, "run");
  return {
    text: value(search, "text"),
    phase: values(search, "phase")
      .flatMap((each) => each.split(","))
      .filter(Boolean),
    backend: value(search, "backend"),
    kind: value(search, "kind"),
    user: value(search, "user"),
    since: value(search, "since"),
    run,
    label: values(search, "label"),
    metric: values(search, "metric"),
    sort,
    isAscending: value(search, "order") === "ascending",
    isGrouped: sort === "created" && run === "" && value(search, "group") !== "none",
  };
}

/** What the address says of them; what is usual is left out. */
export function searchOf(filters: JobFilters): Search {
  const search: Search = {};
  for (const name of TEXTS) if (filters[name]) search[name] = filters[name];
  if (filters.phase.length > 0) search["phase"] = filters.phase.join(",");
  if (filters.label.length > 0) search["label"] = filters.label;
  if (filters.metric.length > 0) search["metric"] = filters.metric;
  if (filters.sort !== "created") search["sort"] = filters.sort;
  if (filters.isAscending) search["order"] = "ascending";
  if (!filters.isGrouped && filters.sort === "created" && !filters.run) search["group"] = "none";
  return search;
}

/** What the server is asked for them. */
export function queryOf(filters: JobFilters): WindowQuery {
  const { isAscending, isGrouped, phase, ...same } = filters;
  const phases = phase.filter((each) => each !== "active" && each !== "ended");
  return {
    ...same,
    phase: phases.join(","),
    ...(phase.includes("active") ? { active: true } : phase.includes("ended") ? { active: false } : {}),
    ascending: isAscending,
    grouped: isGrouped,
  };
}

/** Whether anything is left out of the list. */
export function isFiltered(filters: JobFilters): boolean {
  const { phase, label, metric } = filters;
  return TEXTS.some((name) => filters[name] !== "") || [phase, label, metric].some((list) => list.length > 0);
}

/** The filters after a click on the head of a column: by it, then the other way round. */
export function sortedBy(filters: JobFilters, sort: SortKey): JobFilters {
  const isAscending = filters.sort === sort ? !filters.isAscending : sort !== "created";
  return { ...filters, sort, isAscending, isGrouped: filters.isGrouped && sort === "created" };
}
