/**
 * Log lines as terminals would show them, made safe: colours become classes, everything else that
 * controls a terminal is left out, and what cannot be seen is shown as a sign. Pure.
 */

export interface Span {
  text: string;
  /** Names of classes: `tw-ansi-1 tw-ansi-bold`. */
  classes: string;
}

const ESCAPES =
  /\x1b(?:\[([0-9;:?]*)[ -/]*([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-~]?)/g;
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f]/g;
const BIDI = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

interface Look {
  colour: number | null;
  isBold: boolean;
}

/** What is left of a line on a terminal: what a carriage return overwrites is gone. */
export function afterReturns(text: string): string {
  const trimmed = text.replace(/\r+$/, "");
  return trimmed.slice(trimmed.lastIndexOf("\r") + 1);
}

export function spansOf(line: string): Span[] {
  const text = afterReturns(line);
  const spans: Span[] = [];
  let look: Look = { colour: null, isBold: false };
  let last = 0;
  const add = (part: string) => {
    if (part) spans.push({ text: visible(part), classes: classesOf(look) });
  };
  for (const match of text.matchAll(ESCAPES)) {
    add(text.slice(last, match.index));
    last = match.index + match[0].length;
    if (match[2] === "m") look = changed(look, match[1] ?? "");
  }
  add(text.slice(last));
  return spans;
}

export function plain(line: string): string {
  return spansOf(line)
    .map((span) => span.text)
    .join("");
}

function visible(text: string): string {
  return text
    .replace(CONTROLS, (sign) => String.fromCharCode(sign === "\x7f" ? 0x2421 : 0x2400 + sign.charCodeAt(0)))
    .replace(BIDI, "\u2426");
}

function changed(look: Look, codes: string): Look {
  const next = { ...look };
  const numbers = codes.split(/[;:]/).map(Number);
  for (let index = 0; index < numbers.length; index += 1) {
    const code = numbers[index] ?? 0;
    if (code === 0) Object.assign(next, { colour: null, isBold: false });
    else if (code === 1) next.isBold = true;
    else if (code === 22) next.isBold = false;
    else if (code >= 30 && code <= 37) next.colour = code - 30;
    else if (code >= 90 && code <= 97) next.colour = code - 90;
    else if (code === 39) next.colour = null;
    else if (code === 38 || code === 48) index += numbers[index + 1] === 5 ? 2 : 4;
  }
  return next;
}

function classesOf({ colour, isBold }: Look): string {
  const names = [colour === null ? "" : `tw-ansi-${colour}`, isBold ? "tw-ansi-bold" : ""];
  return names.filter(Boolean).join(" ");
}

/** Spans in which a text that was searched for stands alone, marked. Upper and lower case are alike. */
export function marked(spans: Span[], wanted: string): Span[] {
  if (!wanted) return spans;
  const lower = wanted.toLowerCase();
  return spans.flatMap((span) => {
    const parts: Span[] = [];
    const text = span.text.toLowerCase();
    if (text.length !== span.text.length) return [span];
    let last = 0;
    for (let at = text.indexOf(lower); at >= 0; at = text.indexOf(lower, last)) {
      if (at > last) parts.push({ ...span, text: span.text.slice(last, at) });
      last = at + lower.length;
      parts.push({ text: span.text.slice(at, last), classes: `${span.classes} tw-found`.trim() });
    }
    if (last < span.text.length) parts.push({ ...span, text: span.text.slice(last) });
    return parts;
  });
}
