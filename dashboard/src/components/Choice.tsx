import { FormSelect, FormSelectOption } from "@patternfly/react-core/dist/dynamic/components/FormSelect";

interface Props {
  label: string;
  value: string;
  /** Each with its text; a value that is none of them is shown as it is. */
  choices: readonly (readonly string[])[];
  onChange: (value: string) => void;
}

/** One of several, of a filter. */
export function Choice({ label, value, choices, onChange }: Props) {
  const isKnown = choices.some(([each]) => each === value);
  return (
    <FormSelect aria-label={label} value={value} onChange={(_, next) => onChange(next)}>
      {(isKnown ? choices : [...choices, [value, value]]).map(([each, text]) => (
        <FormSelectOption key={each} value={each ?? ""} label={text ?? ""} />
      ))}
    </FormSelect>
  );
}
