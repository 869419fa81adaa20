import { bytes } from "../../../components/format";
import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { useEffect, useRef, useState } from "react";
import type { Place } from "./useLogPages";

interface Props {
  /** Which share of the log is before what is shown: from 0 to 1. */
  share: number;
  size: number;
  onGo: (place: Place) => void;
}

const STEPS = 1_000;
const PAUSE = 150;

/** Where in the whole log the lines are, however long it is, and the way to another place. */
export function LogPlace({ share, size, onGo }: Props) {
  const [dragged, setDragged] = useState<number | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const drag = (value: number) => {
    setDragged(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      setDragged(null);
      onGo(value >= STEPS ? {} : { at: value / STEPS });
    }, PAUSE);
  };
  return (
    <div className="tw-toolbar tw-log-place">
      <Button variant="link" isInline onClick={() => onGo({ at: 0 })}>
        Start
      </Button>
      <input
        type="range"
        min={0}
        max={STEPS}
        value={dragged ?? Math.round(share * STEPS)}
        aria-label="Place in the log"
        aria-valuetext={`${Math.round((dragged ?? share * STEPS) / 10)} % of ${bytes(size)}`}
        onChange={(event) => drag(Number(event.target.value))}
      />
      <Button variant="link" isInline onClick={() => onGo({})}>
        End
      </Button>
      <span className="tw-subtle">{bytes(size)}</span>
      <label className="tw-subtle">
        From{" "}
        <input
          type="datetime-local"
          step={1}
          className="tw-log-time"
          aria-label="Show the log from this time on"
          onChange={(event) => {
            const moment = new Date(event.target.value);
            if (!Number.isNaN(moment.getTime())) onGo({ time: moment.toISOString() });
          }}
        />
      </label>
    </div>
  );
}
