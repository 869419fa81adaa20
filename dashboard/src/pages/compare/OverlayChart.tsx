import { useEffect, useRef, useSyncExternalStore } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { isDark, onTheme } from "../../shell/theme";
import type { aligned } from "./comparison";

interface Props {
  title: string;
  names: readonly string[];
  curves: ReturnType<typeof aligned>;
}

const COLOURS = ["#0066cc", "#b1380b", "#3d7317", "#5e40be", "#b98412", "#147878", "#a60000", "#707070"];
const DARK = ["#92c5f9", "#f5921b", "#87bb62", "#b6a6e9", "#dca614", "#63bdbd", "#f0561d", "#c7c7c7"];
const DASHES = [[], [6, 4], [2, 3], [10, 4, 2, 4]];
const HEIGHT = 320;

/** One metric of several jobs over each other; lines differ in colour and in their dashes. */
export function OverlayChart({ title, names, curves }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const dark = useSyncExternalStore(onTheme, isDark);
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const colours = dark ? DARK : COLOURS;
    const ink = dark ? "#e0e0e0" : "#4d4d4d";
    const axis = { stroke: ink, grid: { stroke: dark ? "#444444" : "#e0e0e0" } };
    const chart = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        scales: { x: { time: false } },
        axes: [
          { ...axis, label: curves.unit },
          { ...axis, size: 70 },
        ],
        series: [
          { label: curves.unit },
          ...names.map((label, index) => ({
            label,
            stroke: colours[index % colours.length] ?? ink,
            dash: DASHES[Math.floor(index / colours.length) % DASHES.length] ?? [],
            width: 2,
            spanGaps: true,
          })),
        ],
      },
      curves.data,
      element,
    );
    const resize = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      chart.destroy();
    };
  }, [names, curves, dark]);
  return <div ref={place} className="tw-overlay" role="img" aria-label={`${title} of ${names.join(", ")}`} />;
}
