import { Label } from "@patternfly/react-core/dist/dynamic/components/Label";
import CheckCircleIcon from "@patternfly/react-icons/dist/esm/icons/check-circle-icon";
import HourglassHalfIcon from "@patternfly/react-icons/dist/esm/icons/hourglass-half-icon";
import PauseCircleIcon from "@patternfly/react-icons/dist/esm/icons/pause-circle-icon";

const LOOKS = {
  INIT: { color: "purple", Icon: HourglassHalfIcon, meaning: "The cluster waits for its nodes." },
  UP: { color: "green", Icon: CheckCircleIcon, meaning: "The cluster has its nodes." },
  AUTOSTOPPING: {
    color: "orange",
    Icon: HourglassHalfIcon,
    meaning: "The cluster was idle for long enough and is being stopped.",
  },
  STOPPED: { color: "grey", Icon: PauseCircleIcon, meaning: "The cluster has no nodes and can be started." },
} as const;

/** The state of a cluster, readable without its colour. */
export function ClusterState({ phase }: { phase: string }) {
  const { color, Icon, meaning } = Object.hasOwn(LOOKS, phase)
    ? LOOKS[phase as keyof typeof LOOKS]
    : LOOKS.INIT;
  return (
    <Label isCompact color={color} icon={<Icon />} title={meaning}>
      {phase}
    </Label>
  );
}
