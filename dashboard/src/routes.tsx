/** Every page has one line here. Its code is loaded when somebody opens it. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import type { ComponentType } from "react";
import { Loading } from "./components/Loading";
import { parseSearch, searchText, type Search } from "./data/search";
import { Failure } from "./shell/Failure";
import { NotFound } from "./shell/NotFound";
import { Shell } from "./shell/Shell";

const root = createRootRoute({ component: Shell });

function page<const P extends string>(path: P, load: () => Promise<{ default: ComponentType }>) {
  return createRoute({
    getParentRoute: () => root,
    path,
    component: lazyRouteComponent(load),
    validateSearch: (search): Search => search as Search,
  });
}

const pages = root.addChildren([
  page("/", () => import("./pages/overview/OverviewPage")),
  page("/jobs", () => import("./pages/jobs/JobsPage")),
  page("/jobs/$job", () => import("./pages/job/JobPage")),
  page("/create", () => import("./pages/create/CreatePage")),
  page("/compare", () => import("./pages/compare/ComparePage")),
  page("/pipelines", () => import("./pages/pipelines/PipelinesPage")),
  page("/pipelines/$run", () => import("./pages/pipelines/PipelinePage")),
  page("/pipelines/groups/$job", () => import("./pages/pipelines/GroupPage")),
  page("/schedules", () => import("./pages/schedules/SchedulesPage")),
  page("/schedules/new", () => import("./pages/schedules/NewSchedulePage")),
  page("/clusters", () => import("./pages/clusters/ClustersPage")),
  page("/clusters/$cluster", () => import("./pages/clusters/ClusterPage")),
  page("/runtimes", () => import("./pages/runtimes/RuntimesPage")),
  page("/runtimes/$runtime", () => import("./pages/runtimes/RuntimePage")),
  page("/queues", () => import("./pages/queues/QueuesPage")),
  page("/queues/$queue", () => import("./pages/queues/QueuePage")),
  page("/storage", () => import("./pages/storage/StoragePage")),
  page("/caches", () => import("./pages/caches/CachesPage")),
  page("/finetunes", () => import("./pages/finetunes/FineTunesPage")),
  page("/nodes", () => import("./pages/nodes/NodesPage")),
  page("/infra", () => import("./pages/infra/InfraPage")),
  page("/usage", () => import("./pages/usage/UsagePage")),
  page("/costs", () => import("./pages/costs/CostsPage")),
  page("/prices", () => import("./pages/prices/PricesPage")),
  page("/settings", () => import("./pages/settings/SettingsPage")),
]);

export const router = createRouter({
  routeTree: pages,
  basepath: "/dashboard",
  parseSearch,
  stringifySearch: searchText,
  defaultPendingComponent: Loading,
  defaultErrorComponent: Failure,
  defaultNotFoundComponent: NotFound,
  defaultPreload: "intent",
  scrollRestoration: false,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
