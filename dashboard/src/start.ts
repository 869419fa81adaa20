/**
 * The first code that runs, and little of it: it asks for what the page will show and for the code of that page,
 * while the code of all pages is still on its way. Nothing depends on it: what is not asked for here is later.
 */
import { firstAddresses } from "./first";
import { askEarly } from "./data/early";

const { pathname, search } = window.location;
firstAddresses(pathname, search).forEach(askEarly);
if (/^\/dashboard\/jobs\/?$/.test(pathname)) void import("./pages/jobs/JobsPage");
else if (pathname.startsWith("/dashboard/jobs/")) {
  void import("./pages/job/JobPage");
  if (search.includes("tab=logs")) void import("./pages/job/logs/LogsTab");
}
void import("./main");
