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

/** A table that scrolls sideways where the window is narrow. */
export function DataTable({ label, columns, rows, numbers = [], sentences = [] }: Props) {
  const side = (index: number) =>
    numbers.includes(index) ? "tw-number" : sentences.includes(index) ? "tw-sentence" : "";
  return (
    <div className="tw-table-frame" role="region" aria-label={label} tabIndex={0}>
      <table className="tw-table">
        <thead>
          <tr>
            {columns.map((name, index) => (
              <th key={name} scope="col" className={side(index)}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([key, ...cells]) => (
            <tr key={key} data-row>
              {cells.map((cell, index) => (
                <td key={columns[index] ?? index} className={side(index)}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
