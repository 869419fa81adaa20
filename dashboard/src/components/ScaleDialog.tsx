import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { Form, FormGroup } from "@patternfly/react-core/dist/dynamic/components/Form";
import {
  Modal,
  ModalBody,
  ModalFooter,
  ModalHeader,
} from "@patternfly/react-core/dist/dynamic/components/Modal";
import { TextInput } from "@patternfly/react-core/dist/dynamic/components/TextInput";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { change, type Schemas } from "../data/client";
import { KEYS } from "../data/queries";
import { ErrorAlert } from "./ErrorAlert";
import { count } from "./format";
import { nodesNow, wantedNodes } from "./scaling";

interface Props {
  job: Schemas["Job"];
  onClose: () => void;
}

/** Asks how many nodes a job is to have that waits. */
export default function ScaleDialog({ job, onClose }: Props) {
  const { id, name } = job.metadata;
  const now = nodesNow(job.status.nodes ?? []);
  const [text, setText] = useState(String(now));
  const nodes = wantedNodes(text);
  const queryClient = useQueryClient();
  const scaling = useMutation({
    mutationFn: (wanted: number) =>
      change("post", "/api/v1/jobs/{ref}/scale", { path: { ref: id }, body: { nodes: wanted } }),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: [KEYS.job, id] });
      void queryClient.invalidateQueries({ queryKey: [KEYS.jobs] });
      onClose();
    },
  });
  const scale = () => nodes !== null && scaling.mutate(nodes);
  return (
    <Modal isOpen onClose={onClose} variant="small" aria-labelledby="scale-title">
      <ModalHeader title={`Scale ${name}`} labelId="scale-title" />
      <ModalBody>
        <Form
          onSubmit={(event) => {
            event.preventDefault();
            scale();
          }}
        >
          <p>
            It has {count(now, "node")} now. It keeps its place in the queue and starts with the new number.
          </p>
          <FormGroup label="Nodes" fieldId="scale-nodes">
            <TextInput
              id="scale-nodes"
              inputMode="numeric"
              value={text}
              validated={nodes === null ? "error" : "default"}
              onChange={(_, written) => setText(written)}
            />
          </FormGroup>
          {scaling.error && <ErrorAlert error={scaling.error} title="The job was not scaled" />}
        </Form>
      </ModalBody>
      <ModalFooter>
        <Button
          variant="primary"
          isDisabled={nodes === null || nodes === now || scaling.isPending}
          isLoading={scaling.isPending}
          onClick={scale}
        >
          Scale
        </Button>
        <Button variant="link" onClick={onClose}>
          Go back
        </Button>
      </ModalFooter>
    </Modal>
  );
}
