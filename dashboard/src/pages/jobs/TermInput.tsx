import { TextInput } from "@patternfly/react-core/dist/dynamic/components/TextInput";
import { useState } from "react";

interface Props {
  label: string;
  example?: string;
  value: string;
  onChange: (value: string) => void;
}

/** A text that counts once it is complete: with Enter, or when the field is left. */
export function TermInput({ label, example, value, onChange }: Props) {
  const [draft, setDraft] = useState<string | null>(null);
  const commit = () => {
    if (draft !== null && draft.trim() !== value) onChange(draft.trim());
    setDraft(null);
  };
  return (
    <TextInput
      aria-label={label}
      placeholder={example ? `${label}: ${example}` : label}
      value={draft ?? value}
      onChange={(_, text) => setDraft(text)}
      onBlur={commit}
      onKeyDown={(event) => {
        if (event.key === "Enter") commit();
        if (event.key === "Escape") setDraft(null);
      }}
    />
  );
}
