/** Numbers and times as people read them. Pure: the present moment comes in from outside. */

const UNITS: readonly (readonly [string, number])[] = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
  ["s", 1],
];

/** A duration in its two largest units: `2 h 5 min`. */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return "–";
  const whole = Math.max(0, Math.round(seconds));
  const first = UNITS.findIndex(([, size]) => whole >= size);
  if (first === -1) return "0 s";
  const parts: string[] = [];
  let rest = whole;
  for (const [unit, size] of UNITS.slice(first, first + 2)) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count} ${unit}`);
  }
  return parts.join(" ");
}

/** How long ago a moment was: `5 min ago`. */
export function ago(moment: string, now: number): string {
  const seconds = (now - Date.parse(moment)) / 1000;
  if (Number.isNaN(seconds)) return "–";
  if (Math.abs(seconds) < 5) return "just now";
  const [text] = duration(Math.abs(seconds)).match(/^\d+ \w+/) ?? ["0 s"];
  return seconds < 0 ? `in ${text}` : `${text} ago`;
}

/** How long something took that began at a moment and may not have ended yet. */
export function elapsed(
  start: string | null | undefined,
  end: string | null | undefined,
  now: number,
): string {
  if (!start) return "–";
  return duration(((end ? Date.parse(end) : now) - Date.parse(start)) / 1000);
}

/** A count with its noun: `1 job`, `3 jobs`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? noun : plural}`;
}

const SIZES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;

/** A number of bytes: `1.5 GiB`. */
export function bytes(number: number): string {
  let value = number;
  let unit = 0;
  while (Math.abs(value) >= 1024 && unit < SIZES.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${SIZES[unit]}`;
}

/** Money: `$1,234.50`, with more digits where cents would not show it. */
export function money(amount: number | null | undefined): string {
  if (amount === null || amount === undefined) return "–";
  const digits = amount > 0 && amount < 0.01 ? 4 : 2;
  return `$${amount.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

/** A measured number with four digits that count. */
export function figure(number: number): string {
  if (!Number.isFinite(number)) return String(number);
  return String(Number(number.toPrecision(4)));
}

/** The first names, and how many more there are: `a, b and 3 more`. */
export function namesText(names: readonly string[], most = 5): string {
  const shown = names.slice(0, most).join(", ");
  return names.length > most ? `${shown} and ${(names.length - most).toLocaleString("en")} more` : shown;
}
