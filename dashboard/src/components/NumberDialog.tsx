import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { Form, FormGroup } from "@patternfly/react-core/dist/dynamic/components/Form";
import {
  Modal,
  ModalBody,
  ModalFooter,
  ModalHeader,
} from "@patternfly/react-core/dist/dynamic/components/Modal";
import { TextInput } from "@patternfly/react-core/dist/dynamic/components/TextInput";
import { useId, useState, type ReactNode } from "react";

interface Props {
  title: string;
  /** What the number is. */
  label: string;
  initial: number;
  /** The number that somebody has written; null: it cannot be that. */
  parse: (text: string) => number | null;
  /** What is said while it cannot be that. */
  allowed: string;
  /** What the button says that does it. */
  button: string;
  isPending: boolean;
  /** Whether the button waits for another number than the first one. */
  mustDiffer?: boolean;
  onChoose: (number: number) => void;
  onClose: () => void;
  /** What is said before the number, and what else is asked behind it. */
  before?: ReactNode;
  children?: ReactNode;
  /** More buttons. */
  more?: ReactNode;
}

/** Asks for a number. */
export function NumberDialog(props: Props) {
  const { initial, parse, isPending, mustDiffer = false, onChoose, onClose } = props;
  const [text, setText] = useState(String(initial));
  const id = useId();
  const number = parse(text);
  const isReady = number !== null && !(mustDiffer && number === initial) && !isPending;
  const choose = () => isReady && onChoose(number);
  return (
    <Modal isOpen onClose={onClose} variant="small" aria-labelledby={`${id}-title`}>
      <ModalHeader title={props.title} labelId={`${id}-title`} />
      <ModalBody>
        <Form
          onSubmit={(event) => {
            event.preventDefault();
            choose();
          }}
        >
          {props.before}
          <FormGroup label={props.label} fieldId={`${id}-number`}>
            <TextInput
              id={`${id}-number`}
              inputMode="numeric"
              value={text}
              validated={number === null ? "error" : "default"}
              aria-describedby={`${id}-help`}
              onChange={(_, written) => setText(written)}
            />
            <span id={`${id}-help`} role="status" className="tw-subtle">
              {number === null ? props.allowed : ""}
            </span>
          </FormGroup>
          {props.children}
        </Form>
      </ModalBody>
      <ModalFooter>
        <Button variant="primary" isDisabled={!isReady} isLoading={isPending} onClick={choose}>
          {props.button}
        </Button>
        {props.more}
        <Button variant="link" onClick={onClose}>
          Go back
        </Button>
      </ModalFooter>
    </Modal>
  );
}
