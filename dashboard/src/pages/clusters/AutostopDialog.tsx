import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { Checkbox } from "@patternfly/react-core/dist/dynamic/components/Checkbox";
import { Form, FormGroup } from "@patternfly/react-core/dist/dynamic/components/Form";
import {
  Modal,
  ModalBody,
  ModalFooter,
  ModalHeader,
} from "@patternfly/react-core/dist/dynamic/components/Modal";
import { TextInput } from "@patternfly/react-core/dist/dynamic/components/TextInput";
import { useState } from "react";
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
  const [text, setText] = useState(String(autostop?.idleMinutes ?? 30));
  const [isDown, setDown] = useState(autostop?.down ?? false);
  const minutes = minutesOf(text);
  const choose = () => minutes !== null && onChoose({ idleMinutes: minutes, down: isDown || !stoppable });
  return (
    <Modal isOpen onClose={onClose} variant="small" aria-labelledby="autostop-title">
      <ModalHeader title={`Autostop of ${cluster.metadata.name}`} labelId="autostop-title" />
      <ModalBody>
        <Form
          onSubmit={(event) => {
            event.preventDefault();
            choose();
          }}
        >
          <FormGroup label="Minutes without a job" fieldId="minutes">
            <TextInput
              id="minutes"
              inputMode="numeric"
              value={text}
              validated={minutes === null ? "error" : "default"}
              onChange={(_, written) => setText(written)}
            />
          </FormGroup>
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
        </Form>
      </ModalBody>
      <ModalFooter>
        <Button
          variant="primary"
          isDisabled={minutes === null || isPending}
          isLoading={isPending}
          onClick={choose}
        >
          Set
        </Button>
        {autostop && (
          <Button variant="secondary" isDisabled={isPending} onClick={() => onChoose(null)}>
            Never stop
          </Button>
        )}
        <Button variant="link" onClick={onClose}>
          Go back
        </Button>
      </ModalFooter>
    </Modal>
  );
}
