import "@patternfly/react-styles/css/components/Label/label.css";
import BanIcon from "@patternfly/react-icons/dist/esm/icons/ban-icon";
import CheckCircleIcon from "@patternfly/react-icons/dist/esm/icons/check-circle-icon";
import ExclamationCircleIcon from "@patternfly/react-icons/dist/esm/icons/exclamation-circle-icon";
import ExclamationTriangleIcon from "@patternfly/react-icons/dist/esm/icons/exclamation-triangle-icon";
import HourglassHalfIcon from "@patternfly/react-icons/dist/esm/icons/hourglass-half-icon";
import PauseCircleIcon from "@patternfly/react-icons/dist/esm/icons/pause-circle-icon";
import PlayIcon from "@patternfly/react-icons/dist/esm/icons/play-icon";
import { isPhase, PHASES, type PhaseLook } from "./phases";

const ICONS = {
  waiting: HourglassHalfIcon,
  running: PlayIcon,
  paused: PauseCircleIcon,
  good: CheckCircleIcon,
  bad: ExclamationCircleIcon,
  stopped: BanIcon,
  warning: ExclamationTriangleIcon,
} as const;
const UNKNOWN: PhaseLook = { color: "grey", icon: "waiting", meaning: "" };

interface Props {
  phase: string;
  /** What it means where it is not the phase of a job. */
  meaning?: string;
}

/**
 * The phase of a job, readable without its colour. PatternFly's own label can be edited and closed, and
 * listens to the whole document for that: too much for each row of a long list.
 */
export function PhaseLabel({ phase, meaning }: Props) {
  const look = isPhase(phase) ? PHASES[phase] : UNKNOWN;
  const Icon = ICONS[look.icon];
  return (
    <span className={`pf-v6-c-label pf-m-compact pf-m-${look.color}`} title={meaning ?? look.meaning}>
      <span className="pf-v6-c-label__content">
        <span className="pf-v6-c-label__icon">
          <Icon />
        </span>
        <span className="pf-v6-c-label__text">{phase}</span>
      </span>
    </span>
  );
}
