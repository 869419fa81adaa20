import { Alert } from "@patternfly/react-core/dist/dynamic/components/Alert";
import { Form, FormGroup } from "@patternfly/react-core/dist/dynamic/components/Form";
import { FormSelect, FormSelectOption } from "@patternfly/react-core/dist/dynamic/components/FormSelect";
import { useQuery } from "@tanstack/react-query";
import type { DraftForm } from "../../data/drafts";
import { backendsQuery, offerQuery, runtimesQuery, type Offer } from "../../data/places";
import { DraftField, type Choice } from "./DraftField";
import { fieldsOf, type Entry } from "./fields";
import { Hardware } from "./Hardware";
import { messagesFor } from "./messages";
import { Places } from "./Places";
import type { Draft } from "./useDraft";
import type { Placing } from "./usePlacing";

interface Props {
  draft: Draft;
  placing: Placing;
  /** Whether the backend is that of the job which is submitted again. */
  isPlaced: boolean;
}

/** The side of the draft with fields. */
export function DraftFields({ draft, placing, isPlaced }: Props) {
  const backends = useQuery(backendsQuery).data ?? [];
  const offer = useQuery(offerQuery(draft.backend)).data;
  const choices = useChoices(offer, draft.form);
  const problems = (name: string) => messagesFor(draft.report?.errors ?? [], name);
  const listed = backends.includes(draft.backend) ? backends : [draft.backend, ...backends];
  return (
    <Form className="tw-draft-form" onSubmit={(event) => event.preventDefault()}>
      <FormGroup label="Where it runs" fieldId="draft-backend" className="tw-field-wide">
        <FormSelect
          id="draft-backend"
          value={draft.backend}
          isDisabled={isPlaced}
          onChange={(_, backend) => {
            placing.choose([]);
            draft.edit({ backend });
          }}
        >
          {listed.map((name) => (
            <FormSelectOption
              key={name}
              value={name}
              label={name === "local" ? "local (the server’s machine)" : name}
            />
          ))}
        </FormSelect>
        <Hardware
          backend={draft.backend}
          problems={[...problems("backend"), ...(offer?.problem ? [offer.problem] : [])]}
        />
        {!isPlaced && backends.length > 1 && <Places backends={backends} placing={placing} />}
      </FormGroup>
      {draft.form ? (
        fieldsOf(draft.form.kind, draft.backend).map((field) => (
          <DraftField
            key={field.name}
            field={field}
            form={draft.form as DraftForm}
            errors={problems(field.name)}
            choices={choices(field.entry, field.isRequired ?? false)}
            onChange={draft.edit}
          />
        ))
      ) : (
        <Alert
          variant="info"
          isInline
          isPlain
          className="tw-field-wide"
          component="p"
          title="The text has more than a form can show, or cannot be read yet. Go on in the text."
        />
      )}
    </Form>
  );
}

/** What can be chosen for the fields that name something. */
function useChoices(offer: Offer | undefined, form: DraftForm | null) {
  const runtimes = useQuery(runtimesQuery).data ?? [];
  const names = [...new Set([...(offer?.runtimes ?? []), ...runtimes].map(nameOf))];
  return (entry: Entry, isRequired: boolean): readonly Choice[] => {
    switch (entry) {
      case "runtime":
        return [...(isRequired ? [] : [{ value: "", label: "none" }]), ...names.map(plain)];
      case "queue": {
        const queues = (offer?.queues ?? []).map((queue) => queue.name);
        return queues.length > 0 || form?.queue ? [{ value: "", label: "none" }, ...queues.map(plain)] : [];
      }
      case "mpi":
        return ["OpenMPI", "Intel", "MPICH"].map(plain);
      default:
        return [];
    }
  };
}

function plain(value: string): Choice {
  return { value, label: value };
}

function nameOf(runtime: unknown): string {
  const { metadata } = runtime as { metadata?: { name?: unknown } };
  return String(metadata?.name ?? "");
}
