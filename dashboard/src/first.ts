/** What the first page will ask the server for, as its address says. Pure. */
import { filtersOf, queryOf } from "./pages/jobs/filters";
import { windowQuery } from "./pages/jobs/windows";
import { choiceQuery, PAGE_LINES } from "./pages/job/logs/pages";
import { address } from "./data/client";
import { parseSearch, value } from "./data/search";

const ROOT = "/dashboard";

export function firstAddresses(path: string, text: string): string[] {
  const search = parseSearch(text);
  const [page, ref, ...more] = path.slice(ROOT.length).split("/").filter(Boolean);
  if (page === undefined) return ["/api/v1/overview"];
  if (page !== "jobs" || more.length > 0) return [];
  if (ref === undefined) {
    const rows = address("/api/v1/windows/jobs", {}, windowQuery(queryOf(filtersOf(search)), 0));
    return [rows, "/api/v1/backends"];
  }
  const params = { ref: decoded(ref) };
  if (params.ref === "") return [];
  const job = address("/api/v1/jobs/{ref}", params);
  if (value(search, "tab") !== "logs") return [job];
  const choice = choiceQuery({ node: value(search, "node"), attempt: value(search, "attempt") });
  return [
    job,
    address("/api/v1/jobs/{ref}/logs/files", params),
    address("/api/v1/jobs/{ref}/logs/window", params, { ...choice, lines: PAGE_LINES }),
  ];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return ""; // the page itself says what is wrong with it
  }
}
