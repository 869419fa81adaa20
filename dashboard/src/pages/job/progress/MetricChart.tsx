import "uplot/dist/uPlot.min.css";
import { useEffect, useRef, useSyncExternalStore } from "react";
import uPlot from "uplot";
import { isDark, onTheme } from "../../../shell/theme";
import { columnsOf, type Axis, type Chart } from "./charts";

const HEIGHT = 180;
/** Told apart on white and on black, also by those who do not see red and green. */
const LIGHT = ["#0066cc", "#b35900", "#3d7317", "#5e40be", "#147878", "#8a6a00"] as const;
const DARK = ["#92c5f9", "#f8ae54", "#afdc8f", "#b6a6e9", "#9ad8d8", "#ffe072"] as const;

interface Props {
  chart: Chart;
  axis: Axis;
  label: string;
}

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim() || "#888";
}

function options(chart: Chart, axis: Axis, width: number): uPlot.Options {
  const text = colour("--pf-t--global--text--color--subtle");
  const grid = { stroke: colour("--pf-t--global--border--color--default"), width: 1 };
  const colours = isDark() ? DARK : LIGHT;
  const one = { stroke: text, grid, ticks: { ...grid, size: 4 } };
  return {
    width,
    height: HEIGHT,
    scales: { x: { time: axis === "time" } },
    axes: [
      { ...one, space: 60 },
      { ...one, size: 56 },
    ],
    legend: { show: chart.lines.length > 1 },
    cursor: { points: { size: 6 } },
    series: [
      {},
      ...chart.lines.map((line, index) => ({
        label: line.label,
        stroke: colours[index % colours.length] ?? text,
        width: 1.5,
        spanGaps: true,
        points: { show: line.points.length < 3 },
      })),
    ],
  };
}

/** The lines of one metric. New points are put into the picture that is there. */
export function MetricChart({ chart, axis, label }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const dark = useSyncExternalStore(onTheme, isDark);
  const newest = useRef(chart);
  const lines = chart.lines.map((line) => line.label).join("\n");

  useEffect(() => {
    newest.current = chart;
    plot.current?.setData(columnsOf(chart, axis) as uPlot.AlignedData);
  }, [chart, axis]);

  useEffect(() => {
    const box = place.current;
    if (!box) return;
    const data = columnsOf(newest.current, axis) as uPlot.AlignedData;
    const made = new uPlot(options(newest.current, axis, box.clientWidth), data, box);
    plot.current = made;
    const watcher = new ResizeObserver(() => made.setSize({ width: box.clientWidth, height: HEIGHT }));
    watcher.observe(box);
    return () => {
      watcher.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [axis, dark, lines]);

  return <div ref={place} role="img" aria-label={label} className="tw-plot" />;
}
