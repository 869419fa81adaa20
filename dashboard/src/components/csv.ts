/** Comma-separated values, and how a browser saves them. */

const RISKY = /^[=+\-@\t\r]/;

/** A cell that no spreadsheet takes for a formula; a number stays one. */
function cell(value: string | number): string {
  const text = typeof value === "string" && RISKY.test(value) ? `'${value}` : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvText(rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((row) => `${row.map(cell).join(",")}\n`).join("");
}

/** Saves a text as a file. */
export function download(name: string, text: string, type = "text/csv"): void {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
