import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { SearchInput } from "@patternfly/react-core/dist/dynamic/components/SearchInput";
import { useQuery } from "@tanstack/react-query";
import { memo } from "react";
import { Choice } from "../../components/Choice";
import { PHASE_NAMES } from "../../components/phases";
import { useTyped } from "../../components/useTyped";
import { backendsQuery } from "../../data/queries";
import { filtersOf, isFiltered, type JobFilters } from "./filters";
import { TermInput } from "./TermInput";

interface Props {
  filters: JobFilters;
  onChange: (filters: JobFilters) => void;
}

const PHASES = [
  ["", "Any phase"],
  ["active", "Not ended"],
  ["ended", "Ended"],
].concat(PHASE_NAMES.map((name) => [name, name]));
const TIMES = [
  ["", "Any time"],
  ["1h", "Last hour"],
  ["1d", "Last day"],
  ["7d", "Last 7 days"],
  ["30d", "Last 30 days"],
];
const KINDS = ["TrainJob", "MPIJob", "JobSet"];

export const FilterBar = memo(function FilterBar({ filters, onChange: change }: Props) {
  const onChange = (part: Partial<JobFilters>) => change({ ...filters, ...part });
  const { data } = useQuery(backendsQuery);
  const backends = data?.items.map((backend) => backend.name) ?? [];
  const name = useTyped(filters.text, (text) => onChange({ text }));
  return (
    <div className="tw-filters" role="search" aria-label="Filters of the jobs">
      <div data-search>
        <SearchInput
          aria-label="Name"
          placeholder="Name"
          value={name.value}
          onChange={(_, text) => name.onChange(text)}
          onBlur={name.onBlur}
          onClear={() => name.onChange("")}
        />
      </div>
      <Choice
        label="Phase"
        value={filters.phase.join(",")}
        choices={PHASES}
        onChange={(phase) => onChange({ phase: phase.split(",").filter(Boolean) })}
      />
      <Choice
        label="Backend"
        value={filters.backend}
        choices={[["", "Any backend"], ...backends.map((name) => [name, name])]}
        onChange={(backend) => onChange({ backend })}
      />
      <Choice
        label="Kind"
        value={filters.kind}
        choices={[["", "Any kind"], ...KINDS.map((name) => [name, name])]}
        onChange={(kind) => onChange({ kind })}
      />
      <Choice
        label="Submitted"
        value={filters.since}
        choices={TIMES}
        onChange={(since) => onChange({ since })}
      />
      <TermInput label="User" value={filters.user} onChange={(user) => onChange({ user })} />
      <TermInput
        label="Labels"
        example="team=nlp"
        value={filters.label.join(" ")}
        onChange={(text) => onChange({ label: text.split(/\s+/).filter(Boolean) })}
      />
      <TermInput
        label="Metric"
        example="loss<0.3"
        value={filters.metric.join(" ")}
        onChange={(text) => onChange({ metric: text.split(/\s+/).filter(Boolean) })}
      />
      {isFiltered(filters) && (
        <Button variant="link" onClick={() => change(filtersOf({}))}>
          Clear the filters
        </Button>
      )}
    </div>
  );
});
