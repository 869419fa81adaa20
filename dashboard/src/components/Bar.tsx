import { Progress } from "@patternfly/react-core/dist/dynamic/components/Progress";

interface Props {
  part: number;
  whole: number;
  /** What is beside the bar, for those who do not see it. */
  label: string;
}

/** How much of a whole something is. */
export function Bar({ part, whole, label }: Props) {
  const percent = whole > 0 && part > 0 ? Math.min(100, (100 * part) / whole) : 0;
  const name = label || "Share";
  return (
    <div className={label ? "tw-bar" : "tw-bar tw-bar-alone"}>
      <Progress aria-label={name} value={percent} measureLocation="none" size="sm" />
      {label && <span className="tw-subtle">{label}</span>}
    </div>
  );
}
