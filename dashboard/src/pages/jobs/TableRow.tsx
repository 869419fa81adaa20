import { Checkbox } from "@patternfly/react-core/dist/dynamic/components/Checkbox";
import { Skeleton } from "@patternfly/react-core/dist/dynamic/components/Skeleton";
import { Link } from "@tanstack/react-router";
import { memo, type CSSProperties } from "react";
import { limitText } from "../../components/cost";
import { count } from "../../components/format";
import { JobLink } from "../../components/JobLink";
import { Moment } from "../../components/Moment";
import { PhaseLabel } from "../../components/PhaseLabel";
import type { Schemas } from "../../data/client";
import type { Job } from "./actions";
import type { Column } from "./columns";
import type { Row } from "./useJobRows";

interface Props {
  row: Row | undefined;
  index: number;
  columns: readonly Column[];
  isSelected: boolean;
  onSelect: (jobs: readonly Job[], isSelected: boolean) => void;
  /** How far down it is, in pixels. */
  start: number;
  /** The widths of the columns. */
  grid: CSSProperties;
  /** Measures it where its cells are one below the other, so that it is as high as they need. */
  measure: ((element: HTMLElement | null) => void) | undefined;
}

/** A row of the list, which is drawn anew only when it shows something else. */
export const TableRow = memo(function TableRow(props: Props) {
  const { row, index, columns, isSelected, onSelect, start, grid, measure } = props;
  const job = row?.job;
  const style = { ...grid, transform: `translateY(${start}px)` };
  return (
    <div
      ref={measure}
      className="tw-row tw-virtual"
      role="row"
      aria-rowindex={index + 2}
      data-index={index}
      style={style}
      data-row
    >
      {job ? (
        <>
          <div role="cell">
            <Checkbox
              id={`select-${job.metadata.id}`}
              aria-label={`Select ${job.metadata.name}`}
              isChecked={isSelected}
              onChange={(_, isChecked) => onSelect([job], isChecked)}
            />
          </div>
          <div role="cell" className="tw-cut" title={job.metadata.name}>
            <JobLink id={job.metadata.id}>{job.metadata.name}</JobLink>
          </div>
          {columns.map((column) => (
            <div
              key={column.id}
              role="cell"
              className="tw-cut"
              title={titleOf(column, job)}
              data-label={column.title}
            >
              {column.show(job)}
            </div>
          ))}
        </>
      ) : row?.run ? (
        <RunCells run={row.run} columns={columns} />
      ) : (
        <div role="cell" className="tw-wide">
          <Skeleton width="60%" screenreaderText="Loading the row" />
        </div>
      )}
    </div>
  );
});

function titleOf(column: Column, job: Job): string | undefined {
  return column.id === "message" ? job.status.message : undefined;
}

function RunCells({ run, columns }: { run: Schemas["Run"]; columns: readonly Column[] }) {
  const { id, name, creationTimestamp } = run.metadata;
  const phases = Object.entries(run.status.phases);
  const counts = phases.map(([phase, number]) => `${number} ${phase}`).join(", ");
  const limit = limitText(run.status.budget);
  const summary = limit ? `${counts}; may cost ${limit}` : counts;
  const cells: Record<string, React.ReactNode> = {
    phase: <PhaseLabel phase={run.status.phase} />,
    created: <Moment time={creationTimestamp} />,
    backend: run.spec.backend,
    message: summary,
    id,
    kind: "Run",
  };
  const total = phases.reduce((sum, [, number]) => sum + number, 0);
  return (
    <>
      <div role="cell" aria-hidden>
        ▸
      </div>
      <div role="cell" className="tw-cut" title={name}>
        <Link to="/jobs" search={{ run: id }} className="tw-link">
          {name}
        </Link>{" "}
        <span className="tw-subtle">run of {count(total, "job")}</span>
      </div>
      {columns.map((column) => (
        <div
          key={column.id}
          role="cell"
          className="tw-cut"
          title={column.id === "message" ? summary : undefined}
          data-label={column.title}
        >
          {cells[column.id] ?? "–"}
        </div>
      ))}
    </>
  );
}
