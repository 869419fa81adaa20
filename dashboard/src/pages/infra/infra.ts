/** What the page of the infrastructure shows of nodes. Pure. */
import { bytes, count } from "../../components/format";
import type { GpuInfo, NodeInfo } from "../../data/infra";

export interface HeatCell {
  text: string;
  /** How busy it is, from 0 to 4; null: nobody measures it. */
  level: number | null;
  isHeld: boolean;
  /** All that is known, in words. */
  label: string;
}

/** A GPU as a cell of the heat map, whose text says the same as its colour. */
export function heatCell(gpu: GpuInfo): HeatCell {
  const memory =
    gpu.memory === null
      ? ""
      : `, ${bytes(gpu.memory)}${gpu.totalMemory === null ? "" : ` of ${bytes(gpu.totalMemory)}`} of memory used`;
  const isHeld = gpu.held === true;
  const state = gpu.held === null ? "" : isHeld ? ", in use" : ", free";
  if (gpu.utilization === null) {
    const text = gpu.held === null ? "–" : isHeld ? "in use" : "free";
    return { text, level: null, isHeld, label: `GPU ${gpu.name}${state || ", nothing is known"}${memory}` };
  }
  const percent = Math.round(gpu.utilization);
  const level = Math.min(4, Math.max(0, Math.ceil(gpu.utilization / 25)));
  return {
    text: `${percent} %`,
    level: gpu.utilization < 1 ? 0 : level,
    isHeld,
    label: `GPU ${gpu.name}: ${percent} % busy${state}${memory}`,
  };
}

/** The names of all GPUs that nodes tell one by one, as columns. */
export function gpuColumns(nodes: readonly NodeInfo[]): string[] {
  const names = new Set(nodes.flatMap((node) => node.devices.map((gpu) => gpu.name)));
  return [...names].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
}

/** `3 of 8 GPUs in use`. */
export function gpusInUse(node: NodeInfo): string {
  return `${node.gpus - node.freeGpus} of ${count(node.gpus, "GPU")} in use`;
}

export interface Sums {
  cpus: number;
  usedCpus: number;
  memory: number;
  usedMemory: number;
  gpus: number;
  usedGpus: number;
}

/** What all nodes have, and what of it is held. */
export function sumOf(nodes: readonly NodeInfo[]): Sums {
  const sums = { cpus: 0, usedCpus: 0, memory: 0, usedMemory: 0, gpus: 0, usedGpus: 0 };
  for (const node of nodes) {
    sums.cpus += node.cpus;
    sums.usedCpus += node.cpus - node.freeCpus;
    sums.memory += node.memory;
    sums.usedMemory += node.memory - node.freeMemory;
    sums.gpus += node.gpus;
    sums.usedGpus += node.gpus - node.freeGpus;
  }
  return sums;
}

/** Nodes whose name, state or sort has a text in it, or that have a job of such a name. */
export function matching(nodes: readonly NodeInfo[], text: string): readonly NodeInfo[] {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return nodes;
  return nodes.filter((node) =>
    [node.name, node.state, node.sort, node.problem, ...node.jobs.map((job) => job.name)].some((each) =>
      each.toLowerCase().includes(wanted),
    ),
  );
}

/** `4 nodes, 1 of them takes no jobs`. */
export function nodesText(nodes: readonly NodeInfo[], total: number): string {
  const wrong = nodes.filter((node) => node.problem !== "").length;
  const all = count(total, "node");
  return wrong === 0 ? all : `${all}, ${wrong} of them ${wrong === 1 ? "takes" : "take"} no jobs`;
}
