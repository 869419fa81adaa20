import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { Checkbox } from "@patternfly/react-core/dist/dynamic/components/Checkbox";
import { useState } from "react";
import { NumberDialog } from "../../components/NumberDialog";
import type { Autostop, Cluster } from "../../data/clusters";
import { minutesOf } from "./cluster";

interface Props {
  cluster: Cluster;
  isPending: boolean;
  onChoose: (autostop: Autostop | null) => void;
  onClose: () => void;
}

/** Asks after how long without a job a cluster stops. */
export function AutostopDialog({ cluster, isPending, onChoose, onClose }: Props) {
  const { autostop } = cluster.spec;
  const { stoppable } = cluster.status;
  const [isDown, setDown] = useState(autostop?.down ?? false);
  return (
    <NumberDialog
      title={`Autostop of ${cluster.metadata.name}`}
      label="Minutes without a job"
      initial={autostop?.idleMinutes ?? 30}
      parse={minutesOf}
      allowed="Write a whole number of minutes; 0 means as soon as it has no job."
      button="Set"
      isPending={isPending}
      onChoose={(idleMinutes) => onChoose({ idleMinutes, down: isDown || !stoppable })}
      onClose={onClose}
      more={
        autostop && (
          <Button variant="secondary" isDisabled={isPending} onClick={() => onChoose(null)}>
            Never stop
          </Button>
        )
      }
    >
      {stoppable ? (
        <Checkbox
          id="autostop-down"
          label="Take it down then, instead of stopping it"
          isChecked={isDown}
          onChange={(_, isChosen) => setDown(isChosen)}
        />
      ) : (
        <p>Its hosts cannot be switched off, so it is taken down then.</p>
      )}
    </NumberDialog>
  );
}
