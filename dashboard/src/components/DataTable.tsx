import type { ReactNode } from "react";
import "./DataTable.css";

interface Props {
  label: string;
  columns: readonly string[];
  /** The cells of each row, with a key for it first. */
  rows: readonly (readonly [string, ...ReactNode[]])[];
  /** The columns that are numbers, by index. */
  numbers?: readonly number[];
  /** The columns that are sentences, which need room. */
  sentences?: readonly number[];
}

/**
 * A table; where there is little room, as on a phone, a list of its rows with the name of each column.
 *
 * The roles are written out, since a table that is not laid out as one would lose them.
 */
export function DataTable({ label, columns, rows, numbers = [], sentences = [] }: Props) {
  const side = (index: number) =>
    numbers.includes(index) ? "tw-number" : sentences.includes(index) ? "tw-sentence" : "";
  return (
    <div className="tw-table-frame" role="region" aria-label={label} tabIndex={0}>
      <table className="tw-table" role="table">
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((name, index) => (
              <th key={name} scope="col" role="columnheader" className={side(index)}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map(([key, ...cells]) => (
            <tr key={key} role="row" data-row>
              {cells.map((cell, index) => (
                <td
                  key={columns[index] ?? index}
                  role="cell"
                  className={side(index)}
                  data-label={columns[index]}
                >
                  <div>{cell}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
