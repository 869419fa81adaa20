import { expect, it } from "vitest";
import type { GpuInfo, NodeInfo } from "../../data/infra";
import { gpuColumns, gpusInUse, heatCell, matching, nodesText, sumOf } from "./infra";

const GPU: GpuInfo = { name: "0", held: null, utilization: null, memory: null, totalMemory: null, job: "" };
const NODE: NodeInfo = {
  name: "a1",
  state: "up",
  problem: "",
  sort: "",
  cpus: 8,
  freeCpus: 2,
  memory: 16,
  freeMemory: 4,
  gpus: 2,
  freeGpus: 1,
  devices: [],
  jobs: [],
  drained: "",
  drainedBy: "",
  drainedSince: null,
  drainedUntil: null,
  failures: {},
  lastFailure: "",
};

it("says in words what a colour says", () => {
  expect(heatCell({ ...GPU, utilization: 87.4, held: true, memory: 2 ** 30, totalMemory: 2 ** 31 })).toEqual({
    text: "87 %",
    level: 4,
    isHeld: true,
    label: "GPU 0: 87 % busy, in use, 1.0 GiB of 2.0 GiB of memory used",
  });
  expect(heatCell({ ...GPU, utilization: 0 }).level).toBe(0);
  expect(heatCell({ ...GPU, utilization: 0.4, held: true }).level).toBe(0);
  expect([1, 25, 26, 75, 100].map((percent) => heatCell({ ...GPU, utilization: percent }).level)).toEqual([
    1, 1, 2, 3, 4,
  ]);
});

it("does not invent a number that nobody measures", () => {
  expect(heatCell({ ...GPU, held: true })).toMatchObject({ text: "in use", level: null });
  expect(heatCell({ ...GPU, held: false })).toMatchObject({ text: "free", level: null });
  expect(heatCell(GPU)).toMatchObject({ text: "–", label: "GPU 0, nothing is known" });
});

it("orders GPUs as people count", () => {
  const names = ["10", "2", "0"].map((name) => ({ ...GPU, name }));
  expect(gpuColumns([{ ...NODE, devices: names }, NODE])).toEqual(["0", "2", "10"]);
});

it("adds nodes up", () => {
  expect(sumOf([NODE, NODE])).toEqual({
    cpus: 16,
    usedCpus: 12,
    memory: 32,
    usedMemory: 24,
    gpus: 4,
    usedGpus: 2,
  });
  expect(gpusInUse(NODE)).toBe("1 of 2 GPUs in use");
  expect(nodesText([NODE, { ...NODE, problem: "cordoned" }], 2)).toBe("2 nodes, 1 of them takes no jobs");
  expect(nodesText([NODE], 1)).toBe("1 node");
});

it("finds nodes by name, problem and job", () => {
  const busy = { ...NODE, name: "b1", jobs: [{ id: "x", name: "Bert", pods: 1, utilization: null }] };
  expect(matching([NODE, busy], "BERT").map((node) => node.name)).toEqual(["b1"]);
  expect(matching([NODE, busy], " ")).toHaveLength(2);
  expect(matching([NODE, busy], "nothing")).toEqual([]);
});
