import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useRef, useState } from "react";
import { count } from "../../components/format";
import { useNarrow } from "../../components/useNarrow";
import type { NodeRow } from "./nodes";
import { NodeDialog } from "./NodeDialog";
import { NodeCells, NODE_COLUMNS } from "./NodeCells";

const ROW_HEIGHT = 80;
/** Of a row whose cells are one below the other, until it is measured. */
const STACKED_HEIGHT = 240;

/** The nodes: as many as there are, since only the rows on the screen exist. */
export function NodeList({ rows }: { rows: readonly NodeRow[] }) {
  const place = useRef<HTMLDivElement>(null);
  const isNarrow = useNarrow();
  const [asked, setAsked] = useState<NodeRow | null>(null);
  const keyOf = useCallback(
    (index: number) => {
      const row = rows[index];
      return row ? `${row.place} ${row.node.name}` : index;
    },
    [rows],
  );
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => place.current,
    getItemKey: keyOf,
    estimateSize: () => (isNarrow ? STACKED_HEIGHT : ROW_HEIGHT),
    overscan: 6,
  });
  useEffect(() => virtual.measure(), [isNarrow, virtual]);
  return (
    <>
      <div
        ref={place}
        className={isNarrow ? "tw-job-table tw-node-list tw-node-stack" : "tw-job-table tw-node-list"}
        role="table"
        aria-rowcount={rows.length + 1}
        aria-label={count(rows.length, "node")}
        tabIndex={0}
      >
        <div className="tw-row tw-head tw-node-row" role="row" aria-rowindex={1}>
          {NODE_COLUMNS.map((column) => (
            <div key={column} role="columnheader">
              {column}
            </div>
          ))}
        </div>
        <div role="rowgroup" className="tw-node-rows" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ key, index, start }) => {
            const row = rows[index];
            return (
              <div
                key={key}
                ref={virtual.measureElement}
                className="tw-row tw-virtual tw-node-row"
                role="row"
                aria-rowindex={index + 2}
                data-index={index}
                style={{ transform: `translateY(${start}px)` }}
                data-row
              >
                {row && <NodeCells row={row} onAsk={setAsked} />}
              </div>
            );
          })}
        </div>
      </div>
      {asked && <NodeDialog row={asked} onClose={() => setAsked(null)} />}
    </>
  );
}
