import { FormSelect, FormSelectOption } from "@patternfly/react-core/dist/dynamic/components/FormSelect";
import { TextInput } from "@patternfly/react-core/dist/dynamic/components/TextInput";
import { useTyped } from "./useTyped";

const PERIODS = [
  { since: "", title: "All time" },
  { since: "1d", title: "Last day" },
  { since: "7d", title: "Last 7 days" },
  { since: "30d", title: "Last 30 days" },
] as const;

interface Props {
  groups: readonly { by: string; title: string }[];
  by: string;
  /** The label by which is added up. */
  label: string;
  since: string;
  onChoose: (change: { by?: string; key?: string; since?: string }) => void;
}

/** By what hours or costs are added up, and since when. */
export function SumControls({ groups, by, label, since, onChoose }: Props) {
  const typed = useTyped(label, (text) => onChoose({ key: text }));
  return (
    <div className="tw-controls">
      <FormSelect aria-label="Add up by" value={by} onChange={(_, chosen) => onChoose({ by: chosen })}>
        {groups.map((group) => (
          <FormSelectOption key={group.by} value={group.by} label={`By ${group.title.toLowerCase()}`} />
        ))}
      </FormSelect>
      {by === "label" && (
        <TextInput
          aria-label="Key of the label"
          placeholder="team"
          value={typed.value}
          onChange={(_, text) => typed.onChange(text)}
          onBlur={typed.onBlur}
        />
      )}
      <FormSelect aria-label="Period" value={since} onChange={(_, chosen) => onChoose({ since: chosen })}>
        {PERIODS.map((period) => (
          <FormSelectOption key={period.since} value={period.since} label={period.title} />
        ))}
      </FormSelect>
    </div>
  );
}
