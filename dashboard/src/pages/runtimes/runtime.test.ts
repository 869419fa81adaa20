import { expect, it } from "vitest";
import { factsOf } from "./runtime";

const POD = {
  spec: { containers: [{ name: "node", image: "pytorch:2" }], initContainers: [{ image: "init" }] },
};
const TORCH = {
  kind: "ClusterTrainingRuntime",
  metadata: { name: "torch-distributed", labels: { "trainer.kubeflow.org/framework": "torch" } },
  spec: {
    mlPolicy: { numNodes: 1, torch: { numProcPerNode: "auto" } },
    template: {
      spec: {
        replicatedJobs: [
          { template: { spec: { template: POD } } },
          { template: { spec: { template: { spec: { containers: [{ image: "pytorch:2" }] } } } } },
        ],
      },
    },
  },
};

it("says what a runtime is made of", () => {
  expect(factsOf(TORCH)).toEqual({
    name: "torch-distributed",
    kind: "ClusterTrainingRuntime",
    framework: "torch",
    policy: "torch",
    nodes: "1",
    images: ["init", "pytorch:2"],
  });
});

it("survives whatever a cluster has", () => {
  const nothing = { name: "", kind: "", framework: "", policy: "", nodes: "", images: [] };
  for (const odd of [null, 7, "text", [], {}, { metadata: 3, spec: [], kind: {} }]) {
    expect(factsOf(odd)).toEqual(nothing);
  }
  expect(
    factsOf({ spec: { template: { spec: { replicatedJobs: [null, { template: 1 }] } } } }).images,
  ).toEqual([]);
});
