import { Switch } from "@patternfly/react-core/dist/dynamic/components/Switch";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Suspense, useCallback, useMemo, useState } from "react";
import { count } from "../../components/format";
import { later } from "../../components/later";
import { PageFrame } from "../../components/PageFrame";
import type { Search } from "../../data/search";
import { ActionBar } from "./ActionBar";
import type { Job } from "./actions";
import { ColumnChooser } from "./ColumnChooser";
import { COLUMNS, storeColumns, storedColumns } from "./columns";
import { FilterBar } from "./FilterBar";
import { filtersOf, queryOf, searchOf, type JobFilters } from "./filters";
import { JobTable } from "./JobTable";
import { useCurrent } from "./useCurrent";
import { askForRows } from "./useJobRows";

const CostsOfRun = later<{ run: string }>(() => import("./CostsOfRun"));

export default function JobsPage() {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const filters = useMemo(() => filtersOf(search), [search]);
  const [chosen, setChosen] = useState(storedColumns);
  const [selected, setSelected] = useState<ReadonlyMap<string, Job>>(new Map());
  const [known, setKnown] = useState(1);
  const change = useCallback(
    (next: JobFilters) => {
      setSelected(new Map());
      askForRows(queryOf(next));
      void navigate({ to: "/jobs", search: searchOf(next), replace: true });
    },
    [navigate],
  );
  const select = useCallback((jobs: readonly Job[], isSelected: boolean) => {
    setSelected((former) => {
      const next = new Map(former);
      for (const job of jobs) {
        if (isSelected) next.set(job.metadata.id, job);
        else next.delete(job.metadata.id);
      }
      return next;
    });
  }, []);
  const selectNone = useCallback(() => setSelected(new Map()), []);
  const selectedJobs = useCurrent(useMemo(() => [...selected.values()], [selected]));
  const columns = useMemo(() => COLUMNS.filter((column) => chosen.includes(column.id)), [chosen]);
  return (
    <PageFrame
      title="Jobs"
      isFilled
      beside={
        <span className="tw-subtle">
          {count(
            known,
            filters.isGrouped ? "job or run" : "job",
            filters.isGrouped ? "jobs and runs" : "jobs",
          )}
        </span>
      }
      actions={
        <div className="tw-actions">
          <Switch
            id="group-runs"
            label="Group runs"
            isChecked={filters.isGrouped}
            onChange={(_, isGrouped) => change({ ...filters, isGrouped, run: "", sort: "created" })}
          />
          <ColumnChooser
            chosen={chosen}
            onChange={(ids) => {
              setChosen(ids);
              storeColumns(ids);
            }}
          />
        </div>
      }
    >
      <FilterBar filters={filters} onChange={change} />
      {filters.run && (
        <Suspense fallback={null}>
          <CostsOfRun run={filters.run} />
        </Suspense>
      )}
      <ActionBar selected={selectedJobs} onDone={selectNone} />
      <JobTable
        filters={filters}
        columns={columns}
        selected={selected}
        onSelect={select}
        onChange={change}
        known={known}
        onCount={setKnown}
      />
    </PageFrame>
  );
}
