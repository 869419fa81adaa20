/** By what hours are added up. Pure. */

export const GROUPS = [
  { by: "user", title: "User" },
  { by: "label", title: "Label" },
  { by: "backend", title: "Backend" },
  { by: "day", title: "Day" },
] as const;
export type Group = (typeof GROUPS)[number]["by"];

export function groupOf(text: string): Group {
  return GROUPS.find((group) => group.by === text)?.by ?? "user";
}

interface Sum {
  name: string;
  jobs: number;
  gpuHours: number;
  cpuHours: number;
}

/** The rows of the file, as `trainway usage -o csv` has them. */
export function usageRows(group: string, items: readonly Sum[]): (string | number)[][] {
  return [
    [group, "jobs", "gpuHours", "cpuHours"],
    ...items.map((item) => [item.name, item.jobs, item.gpuHours, item.cpuHours]),
  ];
}
