/** Series of metrics as the charts that show them: one for each metric, with a line for each rank. Pure. */
import type { Schemas } from "../../../data/client";

type Points = Schemas["MetricHistory"]["series"][string];
export type Axis = "step" | "time";

export interface Chart {
  name: string;
  lines: { label: string; points: Points }[];
}

/** `loss@3` is the line of rank 3 in the chart of `loss`. */
export function chartsOf(series: Record<string, Points>): Chart[] {
  const charts = new Map<string, Chart>();
  for (const [full, points] of Object.entries(series)) {
    const match = /^(.+)@(\w[\w-]*)$/.exec(full);
    const name = match?.[1] ?? full;
    const chart = charts.get(name) ?? { name, lines: [] };
    chart.lines.push({ label: match ? `rank ${match[2]}` : name, points });
    charts.set(name, chart);
  }
  return [...charts.values()].sort((one, other) => one.name.localeCompare(other.name));
}

/** The columns that uPlot draws: x first, then a line each; where a line has no point it has null. */
export function columnsOf(chart: Chart, axis: Axis): [number[], ...(number | null)[][]] {
  const xs = new Set<number>();
  const lines = chart.lines.map(({ points }) => {
    const values = new Map<number, number>();
    for (const [index, point] of points.entries()) {
      const x = axis === "step" ? (point.step ?? index) : Date.parse(point.time) / 1000;
      if (!Number.isFinite(x) || typeof point.value !== "number") continue;
      xs.add(x);
      values.set(x, point.value);
    }
    return values;
  });
  const ordered = [...xs].sort((one, other) => one - other);
  return [ordered, ...lines.map((line) => ordered.map((x) => line.get(x) ?? null))];
}

/** What a chart shows, for those who do not see it. */
export function spoken(chart: Chart, summary: Schemas["MetricHistory"]["summary"]): string {
  const told = chart.lines.map(({ label }) => {
    const found = summary[label === chart.name ? label : `${chart.name}@${label.replace("rank ", "")}`];
    return found ? `${label}: last ${found.last}, from ${found.minimum} to ${found.maximum}` : label;
  });
  return `Chart of ${chart.name}. ${told.join("; ")}`;
}
