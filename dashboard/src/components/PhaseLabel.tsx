import { Label } from "@patternfly/react-core/dist/dynamic/components/Label";
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

/** The phase of a job, readable without its colour. */
export function PhaseLabel({ phase }: { phase: string }) {
  const look = isPhase(phase) ? PHASES[phase] : UNKNOWN;
  const Icon = ICONS[look.icon];
  return (
    <Label isCompact color={look.color} icon={<Icon />} title={look.meaning}>
      {phase}
    </Label>
  );
}
