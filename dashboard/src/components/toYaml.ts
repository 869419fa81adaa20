/** Plain data as YAML that people read, in the order in which it comes. Pure. */

const PLAIN = /^[A-Za-z_./][\w./@ -]*$/;
const SPECIAL = /^(?:null|true|false|yes|no|on|off|y|n|~)$/i;

export function toYaml(value: unknown): string {
  const text = node(value, 0);
  return text.endsWith("\n") ? text : `${text}\n`;
}

function node(value: unknown, depth: number): string {
  if (Array.isArray(value))
    return value.length === 0 ? "[]\n" : value.map((item) => listItem(item, depth)).join("");
  if (value !== null && typeof value === "object") {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    return entries.length === 0 ? "{}\n" : entries.map(([key, item]) => entry(key, item, depth)).join("");
  }
  return `${scalar(value, depth)}\n`;
}

function entry(key: string, value: unknown, depth: number): string {
  const name = `${"  ".repeat(depth)}${isPlain(key) ? key : JSON.stringify(key)}:`;
  if (!isNested(value)) return `${name} ${node(value, depth + 1)}`;
  return `${name}\n${node(value, Array.isArray(value) ? depth : depth + 1)}`;
}

function listItem(value: unknown, depth: number): string {
  const indent = "  ".repeat(depth);
  return `${indent}- ${node(value, depth + 1).slice(isNested(value) ? indent.length + 2 : 0)}`;
}

function isNested(value: unknown): boolean {
  return value !== null && typeof value === "object" && Object.keys(value).length > 0;
}

function scalar(value: unknown, depth: number): string {
  if (typeof value === "string") return text(value, depth);
  return value === undefined ? "null" : String(value);
}

function text(value: string, depth: number): string {
  if (value.includes("\n") && !/[^\n\t\x20-\x7e\u00a0-\ufffd]|[ \t]\n|^[ \n]/.test(value)) {
    const keep = value.endsWith("\n") ? (value.endsWith("\n\n") ? "+" : "") : "-";
    const lines = value.replace(/\n$/, "").split("\n");
    return `|${keep}\n${lines.map((line) => (line ? "  ".repeat(depth) + line : "")).join("\n")}`;
  }
  return isPlain(value) ? value : JSON.stringify(value);
}

function isPlain(value: string): boolean {
  return PLAIN.test(value) && !value.endsWith(" ") && !SPECIAL.test(value) && !/^[.]/.test(value);
}
