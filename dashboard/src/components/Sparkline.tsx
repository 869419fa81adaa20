import "./Sparkline.css";
import { sparkPath } from "./sparkline";

interface Props {
  values: number[];
  /** What it says, for those who do not see it: "CPU of node-1: 30 %". */
  label: string;
  text: string;
  top?: number;
}

const [WIDTH, HEIGHT] = [96, 24];

/** A small line of what was measured, and the last value. */
export function Sparkline({ values, label, text, top }: Props) {
  if (values.length === 0) return <span className="tw-subtle">–</span>;
  return (
    <span className="tw-spark">
      <svg
        viewBox={`0 -1 ${WIDTH} ${HEIGHT + 2}`}
        width={WIDTH}
        height={HEIGHT}
        role="img"
        aria-label={`${label}: ${text}`}
      >
        <path d={sparkPath(values, WIDTH, HEIGHT, top)} fill="none" stroke="currentColor" strokeWidth="1.5" />
      </svg>
      <span>{text}</span>
    </span>
  );
}
