import "@patternfly/react-styles/css/components/Table/table.css";
import "@patternfly/react-styles/css/components/Table/table-grid.css";
import type { ReactNode } from "react";

interface Props {
  label: string;
  columns: readonly string[];
  children: ReactNode;
}

/**
 * A table that becomes a list of cards on a phone.
 *
 * The roles are written out, since a table that is not laid out as one would lose them.
 */
export function Table({ label, columns, children }: Props) {
  return (
    <div className="tw-scroll-x">
      <table role="table" className="pf-v6-c-table pf-m-grid-md pf-m-compact" aria-label={label}>
        <thead role="rowgroup" className="pf-v6-c-table__thead">
          <tr role="row" className="pf-v6-c-table__tr">
            {columns.map((column) => (
              <th key={column} scope="col" role="columnheader" className="pf-v6-c-table__th tw-head">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup" className="pf-v6-c-table__tbody">
          {children}
        </tbody>
      </table>
    </div>
  );
}

export function Row({ children }: { children: ReactNode }) {
  return (
    <tr role="row" className="pf-v6-c-table__tr">
      {children}
    </tr>
  );
}

export function Cell({ label, children }: { label: string; children: ReactNode }) {
  return (
    <td role="cell" className="pf-v6-c-table__td tw-cell" data-label={label}>
      {children}
    </td>
  );
}
