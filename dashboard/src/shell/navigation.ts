/** The pages in the navigation, in their order: one line each. */

export interface NavigationEntry {
  path: string;
  title: string;
  /** Pressed after `g`, it opens the page. */
  key: string;
}

export const NAVIGATION: readonly NavigationEntry[] = [
  { path: "/", title: "Overview", key: "o" },
  { path: "/jobs", title: "Jobs", key: "j" },
  { path: "/create", title: "Create", key: "n" },
  { path: "/compare", title: "Compare", key: "c" },
  { path: "/pipelines", title: "Pipelines", key: "p" },
  { path: "/finetunes", title: "Fine-tunes", key: "f" },
  { path: "/schedules", title: "Schedules", key: "d" },
  { path: "/clusters", title: "Clusters", key: "k" },
  { path: "/runtimes", title: "Runtimes", key: "r" },
  { path: "/queues", title: "Queues", key: "q" },
  { path: "/storage", title: "Storage", key: "v" },
  { path: "/caches", title: "Caches", key: "a" },
  { path: "/nodes", title: "Nodes", key: "m" },
  { path: "/infra", title: "Infra", key: "i" },
  { path: "/usage", title: "Usage", key: "u" },
  { path: "/costs", title: "Costs", key: "b" },
  { path: "/prices", title: "Prices", key: "e" },
  { path: "/settings", title: "Settings", key: "s" },
];

/** The entry that a path belongs to: a job's page is one of the jobs. */
export function entryOf(path: string): NavigationEntry | undefined {
  return NAVIGATION.findLast(
    (entry) => path === entry.path || (entry.path !== "/" && path.startsWith(`${entry.path}/`)),
  );
}
