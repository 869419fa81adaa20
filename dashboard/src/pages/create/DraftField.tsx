import { FormGroup, FormHelperText } from "@patternfly/react-core/dist/dynamic/components/Form";
import { FormSelect, FormSelectOption } from "@patternfly/react-core/dist/dynamic/components/FormSelect";
import { HelperText, HelperTextItem } from "@patternfly/react-core/dist/dynamic/components/HelperText";
import { TextArea } from "@patternfly/react-core/dist/dynamic/components/TextArea";
import { TextInput } from "@patternfly/react-core/dist/dynamic/components/TextInput";
import { useState } from "react";
import type { DraftForm } from "../../data/drafts";
import { linesOf, variablesOf, type Entry, type Field } from "./fields";

export interface Choice {
  value: string;
  label: string;
}

interface Props {
  field: Field;
  form: DraftForm;
  errors: readonly string[];
  choices: readonly Choice[];
  onChange: (change: Partial<DraftForm>) => void;
}

const WIDE: readonly Entry[] = ["lines", "code", "variables"];

/** One field of the form, with what is wrong with it below. */
export function DraftField({ field, form, errors, choices, onChange }: Props) {
  const id = `draft-${field.name}`;
  const validated = errors.length > 0 ? "error" : "default";
  const shared = {
    id,
    validated,
    "aria-describedby": `${id}-help`,
    "aria-invalid": errors.length > 0,
  } as const;
  const value = form[field.name];
  return (
    <FormGroup
      label={field.label}
      fieldId={id}
      isRequired={field.isRequired ?? false}
      className={WIDE.includes(field.entry) ? "tw-field-wide" : ""}
    >
      {field.entry === "variables" ? (
        <Variables {...shared} env={form.env} onChange={(env) => onChange({ env })} />
      ) : field.entry === "number" ? (
        <TextInput
          {...shared}
          type="number"
          min={0}
          value={value === null ? "" : String(value)}
          onChange={(_, text) => onChange({ [field.name]: wholeNumber(text) })}
        />
      ) : WIDE.includes(field.entry) ? (
        <TextArea
          {...shared}
          className={field.entry === "code" ? "tw-code" : "tw-code tw-code-short"}
          spellCheck={false}
          value={String(value)}
          onChange={(_, text) => onChange({ [field.name]: text })}
        />
      ) : choices.length > 0 ? (
        <FormSelect
          {...shared}
          value={String(value)}
          onChange={(_, chosen) => onChange({ [field.name]: chosen })}
        >
          {withValue(choices, String(value)).map((choice) => (
            <FormSelectOption key={choice.value} value={choice.value} label={choice.label} />
          ))}
        </FormSelect>
      ) : (
        <TextInput
          {...shared}
          value={String(value)}
          placeholder={field.placeholder ?? ""}
          onChange={(_, text) => onChange({ [field.name]: text })}
        />
      )}
      <FormHelperText>
        <HelperText id={`${id}-help`} isLiveRegion>
          {errors.map((message) => (
            <HelperTextItem key={message} variant="error" className="tw-break">
              {message}
            </HelperTextItem>
          ))}
          {errors.length === 0 && field.help && <HelperTextItem>{field.help}</HelperTextItem>}
        </HelperText>
      </FormHelperText>
    </FormGroup>
  );
}

function wholeNumber(text: string): number | null {
  return /^\d{1,6}$/.test(text) ? Number(text) : null;
}

/** The choices, with what is there already where it is none of them. */
function withValue(choices: readonly Choice[], value: string): readonly Choice[] {
  return choices.some((choice) => choice.value === value) ? choices : [{ value, label: value }, ...choices];
}

interface VariablesProps {
  id: string;
  validated: "error" | "default";
  env: Readonly<Record<string, string>>;
  onChange: (env: Record<string, string>) => void;
}

/** Variables as lines, which stay as they are typed until they mean something else. */
function Variables({ env, onChange, ...shared }: VariablesProps) {
  const [typed, setTyped] = useState(linesOf(env));
  const isSame = JSON.stringify(variablesOf(typed)) === JSON.stringify(env);
  return (
    <TextArea
      {...shared}
      className="tw-code tw-code-short"
      spellCheck={false}
      value={isSame ? typed : linesOf(env)}
      placeholder="LR=0.1"
      onChange={(_, text) => {
        setTyped(text);
        onChange(variablesOf(text));
      }}
    />
  );
}
