import "./stacked.css";
import { Checkbox } from "@patternfly/react-core/dist/dynamic/components/Checkbox";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, useEffect, useMemo, useRef } from "react";
import { EmptyPage } from "../../components/EmptyPage";
import { ErrorAlert } from "../../components/ErrorAlert";
import { count } from "../../components/format";
import { Loading } from "../../components/Loading";
import { useNarrow } from "../../components/useNarrow";
import type { Job } from "./actions";
import type { Column } from "./columns";
import { isFiltered, queryOf, sortedBy, type JobFilters, type SortKey } from "./filters";
import { TableRow } from "./TableRow";
import { useJobRows } from "./useJobRows";
import { leastWidth } from "./widths";

interface Props {
  filters: JobFilters;
  columns: readonly Column[];
  selected: ReadonlyMap<string, Job>;
  onSelect: (jobs: readonly Job[], isSelected: boolean) => void;
  onChange: (filters: JobFilters) => void;
  /** How many rows there were when they were last read. */
  known: number;
  onCount: (total: number) => void;
}

const ROW_HEIGHT = 40;
/** Of a row whose cells are one below the other, until it is measured. */
const LINE_HEIGHT = 23;
const SELECTION_WIDTH = "2.5rem";
const NAME_WIDTH = "minmax(10rem, 1.5fr)";

/** The list: as long as it likes, since only the rows on the screen exist. */
export function JobTable({ filters, columns, selected, onSelect, onChange, known, onCount }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const isNarrow = useNarrow();
  const virtual = useVirtualizer({
    count: known,
    getScrollElement: () => place.current,
    estimateSize: () => (isNarrow ? (columns.length + 2) * LINE_HEIGHT : ROW_HEIGHT),
    overscan: 6,
  });
  useEffect(() => virtual.measure(), [isNarrow, columns, virtual]);
  const shown = virtual.getVirtualItems();
  const rows = useJobRows(queryOf(filters), shown[0]?.index ?? 0, shown.at(-1)?.index ?? 0, known);
  const grid = useMemo<CSSProperties>(() => {
    if (isNarrow) return {};
    const widths = [SELECTION_WIDTH, NAME_WIDTH, ...columns.map((column) => column.width)];
    return { gridTemplateColumns: widths.join(" "), minWidth: leastWidth(widths) };
  }, [columns, isNarrow]);
  const measure = isNarrow ? virtual.measureElement : undefined;
  const total = rows.total;
  useEffect(() => {
    if (total !== undefined && total !== known) onCount(total);
  }, [total, known, onCount]);
  if (rows.error && rows.total === undefined) {
    return <ErrorAlert error={rows.error} title="The jobs could not be read" onRetry={rows.refetch} />;
  }
  if (rows.total === undefined) return <Loading what="the jobs" />;
  if (rows.total === 0) return <Nothing isFiltered={isFiltered(filters)} />;
  const jobs = rows.loaded.flatMap((row) => row.job ?? []);
  const head = { filters, onChange };
  return (
    <div
      ref={place}
      className={isNarrow ? "tw-job-table tw-stacked" : "tw-job-table"}
      role="table"
      aria-rowcount={rows.total + 1}
      aria-label={count(rows.total, "row")}
      tabIndex={0}
    >
      <div className="tw-row tw-head" role="row" aria-rowindex={1} style={grid}>
        <div role="columnheader">
          <Checkbox
            id="select-all"
            aria-label="Select the jobs that are loaded"
            isChecked={jobs.length > 0 && jobs.every((job) => selected.has(job.metadata.id))}
            onChange={(_, isChecked) => onSelect(jobs, isChecked)}
          />
        </div>
        <Head title="Name" sort="name" {...head} />
        {columns.map((column) => (
          <Head
            key={column.id}
            title={column.title}
            {...(column.sort ? { sort: column.sort } : {})}
            {...head}
          />
        ))}
      </div>
      <div
        role="rowgroup"
        style={{ height: virtual.getTotalSize(), position: "relative", minWidth: grid.minWidth }}
      >
        {shown.map(({ key, index, start }) => {
          const row = rows.rowAt(index);
          const isSelected = selected.has(row?.job?.metadata.id ?? "");
          const look = { start, grid, measure };
          return <TableRow key={key} {...{ row, index, columns, isSelected, onSelect, ...look }} />;
        })}
      </div>
    </div>
  );
}

interface HeadProps {
  title: string;
  sort?: SortKey;
  filters: JobFilters;
  onChange: (filters: JobFilters) => void;
}

function Head({ title, sort, filters, onChange }: HeadProps) {
  if (!sort) return <div role="columnheader">{title}</div>;
  const isSorted = filters.sort === sort;
  const order = filters.isAscending ? "ascending" : "descending";
  return (
    <div role="columnheader" aria-sort={isSorted ? order : "none"}>
      <button type="button" className="tw-sort" onClick={() => onChange(sortedBy(filters, sort))}>
        {title}
        <span aria-hidden>{isSorted ? (filters.isAscending ? " ▲" : " ▼") : ""}</span>
      </button>
    </div>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered)
    return <EmptyPage title="No job is like that">Clear the filters to see all jobs.</EmptyPage>;
  return (
    <EmptyPage title="There are no jobs yet">
      Run one: <code>trainway run -- python train.py</code>
    </EmptyPage>
  );
}
