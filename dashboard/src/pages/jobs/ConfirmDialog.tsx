import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import {
  Modal,
  ModalBody,
  ModalFooter,
  ModalHeader,
} from "@patternfly/react-core/dist/dynamic/components/Modal";
import { count } from "../../components/format";
import type { Action, Job } from "./actions";

interface Props {
  action: Action;
  jobs: readonly Job[];
  onConfirm: () => void;
  onClose: () => void;
}

const SHOWN = 5;

export function ConfirmDialog({ action, jobs, onConfirm, onClose }: Props) {
  const title = `${action.name} ${count(jobs.length, "job")}?`;
  return (
    <Modal isOpen variant="small" onClose={onClose} aria-labelledby="confirm-title">
      <ModalHeader title={title} labelId="confirm-title" titleIconVariant="warning" />
      <ModalBody>
        <p>{action.warning}</p>
        <ul>
          {jobs.slice(0, SHOWN).map((job) => (
            <li key={job.metadata.id} className="tw-break">
              {job.metadata.name}
            </li>
          ))}
          {jobs.length > SHOWN && <li>and {jobs.length - SHOWN} more</li>}
        </ul>
      </ModalBody>
      <ModalFooter>
        <Button variant="danger" onClick={onConfirm}>
          {action.name}
        </Button>
        <Button variant="link" onClick={onClose}>
          Leave as it is
        </Button>
      </ModalFooter>
    </Modal>
  );
}
