import { Label } from "@patternfly/react-core/dist/dynamic/components/Label";
import CheckCircleIcon from "@patternfly/react-icons/dist/esm/icons/check-circle-icon";
import HourglassHalfIcon from "@patternfly/react-icons/dist/esm/icons/hourglass-half-icon";
import PauseCircleIcon from "@patternfly/react-icons/dist/esm/icons/pause-circle-icon";

const LOOKS = {
  Open: { color: "green", Icon: CheckCircleIcon, meaning: "Jobs come in and start." },
  Paused: { color: "grey", Icon: PauseCircleIcon, meaning: "No job of it starts; what runs goes on." },
  Draining: {
    color: "orange",
    Icon: HourglassHalfIcon,
    meaning: "It takes in no more jobs; those that wait still start.",
  },
} as const;

/** The state of a queue, readable without its colour. */
export function QueueState({ state }: { state: string }) {
  const { color, Icon, meaning } = Object.hasOwn(LOOKS, state)
    ? LOOKS[state as keyof typeof LOOKS]
    : LOOKS.Paused;
  return (
    <Label isCompact color={color} icon={<Icon />} title={meaning}>
      {state}
    </Label>
  );
}
