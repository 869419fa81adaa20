import { MenuToggle } from "@patternfly/react-core/dist/dynamic/components/MenuToggle";
import { Select, SelectList, SelectOption } from "@patternfly/react-core/dist/dynamic/components/Select";
import { useState } from "react";
import { COLUMNS } from "./columns";

interface Props {
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
}

export function ColumnChooser({ chosen, onChange }: Props) {
  const [isOpen, setOpen] = useState(false);
  const toggle = (id: string) =>
    onChange(chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id]);
  return (
    <Select
      role="menu"
      isOpen={isOpen}
      onOpenChange={setOpen}
      onSelect={(_, id) => toggle(String(id))}
      popperProps={{ position: "right" }}
      toggle={(ref) => (
        <MenuToggle ref={ref} isExpanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Columns
        </MenuToggle>
      )}
    >
      <SelectList>
        {COLUMNS.map((column) => (
          <SelectOption key={column.id} hasCheckbox value={column.id} isSelected={chosen.includes(column.id)}>
            {column.title}
          </SelectOption>
        ))}
      </SelectList>
    </Select>
  );
}
