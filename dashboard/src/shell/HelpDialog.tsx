import {
  DescriptionList,
  DescriptionListDescription,
  DescriptionListGroup,
  DescriptionListTerm,
} from "@patternfly/react-core/dist/dynamic/components/DescriptionList";
import { Modal, ModalBody, ModalHeader } from "@patternfly/react-core/dist/dynamic/components/Modal";
import { Fragment } from "react";
import { activeShortcuts } from "./useShortcuts";

/** The keys that do something on this page. */
export default function HelpDialog({ onClose }: { onClose: () => void }) {
  return (
    <Modal isOpen variant="small" onClose={onClose} aria-labelledby="keys-title">
      <ModalHeader title="Keys" labelId="keys-title" />
      <ModalBody tabIndex={0}>
        <DescriptionList isHorizontal isCompact>
          {activeShortcuts().map((shortcut) => (
            <DescriptionListGroup key={shortcut.keys}>
              <DescriptionListTerm>
                {shortcut.keys.split(" ").map((key, index) => (
                  <Fragment key={key}>
                    {index > 0 && " then "}
                    <kbd>{key}</kbd>
                  </Fragment>
                ))}
              </DescriptionListTerm>
              <DescriptionListDescription>{shortcut.does}</DescriptionListDescription>
            </DescriptionListGroup>
          ))}
        </DescriptionList>
      </ModalBody>
    </Modal>
  );
}
