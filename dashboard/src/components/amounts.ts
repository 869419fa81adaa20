/** Amounts of Kubernetes, read and written for people. Pure. */
import { bytes, count } from "./format";

const UNITS: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** The number that an amount is: `500m`, `16Gi`, `1e3`; NaN where it is none. */
export function amount(text: string): number {
  const match = /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)([a-zA-Z]*)$/.exec(text.trim());
  if (!match) return Number.NaN;
  const unit = match[2] === "" ? 1 : UNITS[match[2] ?? ""];
  return unit === undefined ? Number.NaN : Number(match[1]) * unit;
}

/** An amount of a resource as people say it: memory in GiB. */
export function amountText(resource: string, text: string): string {
  const number = amount(text);
  if (Number.isNaN(number)) return text;
  return /memory|storage/.test(resource) ? bytes(number) : String(Math.round(number * 100) / 100);
}

interface Some {
  cpu: string;
  memory: string;
  gpus: readonly string[];
}

/** `2 of 4 CPUs, 3 GiB of 8 GiB, no GPUs`. */
export function amountsText(free: Some, total: Some): string {
  const cpus = `${amountText("cpu", free.cpu)} of ${count(amount(total.cpu) || 0, "CPU")}`;
  const memory = `${amountText("memory", free.memory)} of ${amountText("memory", total.memory)}`;
  const all = total.gpus.length;
  return `${cpus}, ${memory}, ${all === 0 ? "no GPUs" : `${free.gpus.length} of ${count(all, "GPU")}`}`;
}

interface Pool {
  nodes: number;
  total: { gpus: Readonly<Record<string, number>> };
  free: { gpus: Readonly<Record<string, number>> };
}

/** `2 nodes, 3 of 8 nvidia.com/gpu free`. */
export function gpuText(pool: Pool): string {
  const gpus = Object.entries(pool.total.gpus).map(
    ([name, all]) => `${pool.free.gpus[name] ?? 0} of ${all} ${name} free`,
  );
  return [count(pool.nodes, "node"), ...gpus].join(", ");
}
