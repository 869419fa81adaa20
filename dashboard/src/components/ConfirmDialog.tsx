import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import {
  Modal,
  ModalBody,
  ModalFooter,
  ModalHeader,
} from "@patternfly/react-core/dist/dynamic/components/Modal";
import type { ReactNode } from "react";

interface Props {
  title: string;
  /** What the button says that does it. */
  button: string;
  isPending: boolean;
  onConfirm: () => void;
  onClose: () => void;
  children: ReactNode;
}

/** Asks before something that cannot be undone. */
export function ConfirmDialog({ title, button, isPending, onConfirm, onClose, children }: Props) {
  return (
    <Modal isOpen onClose={onClose} variant="small" aria-labelledby="confirm-title">
      <ModalHeader title={title} labelId="confirm-title" titleIconVariant="warning" />
      <ModalBody>{children}</ModalBody>
      <ModalFooter>
        <Button variant="danger" onClick={onConfirm} isLoading={isPending} isDisabled={isPending}>
          {button}
        </Button>
        <Button variant="link" onClick={onClose}>
          Go back
        </Button>
      </ModalFooter>
    </Modal>
  );
}
