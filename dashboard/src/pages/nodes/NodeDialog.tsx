import { Form, FormGroup } from "@patternfly/react-core/dist/dynamic/components/Form";
import { TextInput } from "@patternfly/react-core/dist/dynamic/components/TextInput";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { ErrorAlert } from "../../components/ErrorAlert";
import { count } from "../../components/format";
import { NameList } from "../../components/NameList";
import { askAgain, drain, undrain } from "../../data/nodes";
import type { NodeRow } from "./nodes";

const LONGEST = 1000;

/** Asks before a node is set aside, and for the reason; or before it is let in again. */
export function NodeDialog({ row, onClose }: { row: NodeRow; onClose: () => void }) {
  const { place, node } = row;
  const isDrained = node.drained !== "";
  const [why, setWhy] = useState("");
  const doing = useMutation({
    mutationFn: () => {
      const ref = { place, node: node.name };
      return isDrained ? undrain(ref) : drain(ref, why);
    },
    onSuccess: async () => {
      await askAgain(place);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={isDrained ? `Let ${node.name} take pods again?` : `Set ${node.name} aside?`}
      button={isDrained ? "Undrain" : "Drain"}
      isPending={doing.isPending}
      onConfirm={() => doing.mutate()}
      onClose={onClose}
    >
      {isDrained ? (
        <p>
          It is a node of {place}, and was set aside: <span className="tw-break">{node.drained}</span>
        </p>
      ) : (
        <>
          <p>It is a node of {place}. It takes no new pods until somebody undrains it.</p>
          {node.jobs.length > 0 && (
            <>
              <p>
                {count(node.jobs.length, "job")} on it {node.jobs.length === 1 ? "goes" : "go"} on:
              </p>
              <NameList names={node.jobs.map((job) => job.name)} />
            </>
          )}
          <Form
            onSubmit={(event) => {
              event.preventDefault();
              if (!doing.isPending) doing.mutate();
            }}
          >
            <FormGroup label="Why, for whoever looks later" fieldId="drain-why">
              <TextInput
                id="drain-why"
                value={why}
                maxLength={LONGEST}
                onChange={(_, text) => setWhy(text)}
              />
            </FormGroup>
          </Form>
        </>
      )}
      {doing.error && <ErrorAlert error={doing.error} />}
    </ConfirmDialog>
  );
}
