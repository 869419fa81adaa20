import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import {
  Modal,
  ModalBody,
  ModalFooter,
  ModalHeader,
} from "@patternfly/react-core/dist/dynamic/components/Modal";
import { textOf } from "./draftMerge";

interface Props {
  objects: readonly unknown[];
  backend: string;
  onClose: () => void;
}

/** The objects that the backend would be given. Nothing was started. */
export function Objects({ objects, backend, onClose }: Props) {
  return (
    <Modal isOpen variant="large" onClose={onClose} aria-labelledby="dry-run-title">
      <ModalHeader
        title="Dry run"
        labelId="dry-run-title"
        description={`What ${backend} would be given. Nothing was started, and values of Secrets are hidden.`}
      />
      <ModalBody tabIndex={0} aria-label="The objects">
        <pre className="tw-objects">{textOf(objects)}</pre>
      </ModalBody>
      <ModalFooter>
        <Button variant="secondary" onClick={onClose}>
          Close
        </Button>
      </ModalFooter>
    </Modal>
  );
}
