import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { FormSelect, FormSelectOption } from "@patternfly/react-core/dist/dynamic/components/FormSelect";
import { SearchInput } from "@patternfly/react-core/dist/dynamic/components/SearchInput";
import { Switch } from "@patternfly/react-core/dist/dynamic/components/Switch";
import { useState } from "react";
import type { Schemas } from "../../../data/client";
import type { LogChoice } from "./pages";

export interface LogLook {
  isFollowing: boolean;
  isWrapped: boolean;
  withTime: boolean;
}

interface Props {
  files: Schemas["LogFileEntry"][];
  choice: LogChoice;
  look: LogLook;
  /** Why there is nothing to follow; empty: there is. */
  stillness: string;
  downloadAddress: string;
  onChoice: (choice: LogChoice) => void;
  onLook: (change: Partial<LogLook>) => void;
  onSearch: (text: string) => void;
}

const SWITCHES: readonly (readonly [keyof LogLook, string])[] = [
  ["isFollowing", "Follow"],
  ["withTime", "Times"],
  ["isWrapped", "Wrap lines"],
];

export function LogToolbar(props: Props) {
  const { files, choice, look, stillness, downloadAddress, onChoice, onLook, onSearch } = props;
  const [text, setText] = useState("");
  const nodes = new Map(files.map((file) => [`${file.role}/${file.job}/${file.rank}`, file.node]));
  if (choice.node) nodes.set(choice.node, nodes.get(choice.node) ?? choice.node);
  const attempts = [...new Set(files.map((file) => file.attempt))].sort((one, other) => other - one);
  return (
    <div className="tw-toolbar">
      <FormSelect
        aria-label="Node"
        className="tw-narrow"
        value={choice.node}
        onChange={(_, node) => onChoice({ ...choice, node })}
      >
        <FormSelectOption value="" label="All nodes" />
        {[...nodes].map(([key, name]) => (
          <FormSelectOption key={key} value={key} label={name} />
        ))}
      </FormSelect>
      <FormSelect
        aria-label="Attempt"
        className="tw-narrow"
        value={choice.attempt}
        onChange={(_, attempt) => onChoice({ ...choice, attempt })}
      >
        <FormSelectOption value="" label="Newest attempt" />
        {attempts.map((attempt) => (
          <FormSelectOption key={attempt} value={String(attempt)} label={`Attempt ${attempt + 1}`} />
        ))}
        <FormSelectOption value="all" label="All attempts" />
      </FormSelect>
      <div data-search className="tw-log-search">
        <SearchInput
          aria-label="Search in the log"
          placeholder="Search in the log, Enter"
          value={text}
          onChange={(_, next) => setText(next)}
          onSearch={() => onSearch(text.trim().slice(0, 200))}
          onClear={() => {
            setText("");
            onSearch("");
          }}
        />
      </div>
      {SWITCHES.map(([name, label]) => (
        <Switch
          key={name}
          id={`log-${name}`}
          label={label}
          isChecked={look[name] && !(name === "isFollowing" && stillness)}
          isDisabled={name === "isFollowing" && stillness !== ""}
          onChange={(_, isChecked) => onLook({ [name]: isChecked })}
        />
      ))}
      <Button variant="link" component="a" href={downloadAddress} download>
        Download
      </Button>
      <span role="status" className="tw-subtle">
        {stillness}
      </span>
    </div>
  );
}
