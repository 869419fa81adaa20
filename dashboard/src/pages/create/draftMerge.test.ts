import { describe, expect, it } from "vitest";
import { changes, merged, textOf } from "./draftMerge";

const JOB = {
  kind: "TrainJob",
  metadata: { name: "a" },
  spec: { trainer: { numNodes: 2, env: [{ name: "LR", value: "1" }] } },
};

describe("changes", () => {
  it("finds nothing in equal manifests", () => {
    expect(changes(JOB, structuredClone(JOB))).toEqual([]);
  });

  it("names the fields that differ", () => {
    const after = structuredClone(JOB);
    after.spec.trainer.numNodes = 4;
    expect(changes(JOB, after)).toEqual([{ path: ["spec", "trainer", "numNodes"], value: 4 }]);
  });

  it("finds the items of lists by their names", () => {
    const after = structuredClone(JOB);
    after.spec.trainer.env = [
      { name: "LR", value: "2" },
      { name: "X", value: "y" },
    ];
    const path = ["spec", "trainer", "env"];
    expect(changes(JOB, after)).toEqual([
      { path: [...path, { name: "LR" }, "value"], value: "2" },
      { path: [...path, { name: "X" }], value: { name: "X", value: "y" } },
    ]);
  });

  it("replaces a command as a whole", () => {
    expect(changes({ command: ["a"] }, { command: ["a", "b"] })).toEqual([
      { path: ["command"], value: ["a", "b"] },
    ]);
  });
});

describe("merged", () => {
  const text = `# mine
kind: TrainJob
metadata:
  name: a # the name
spec:
  trainer:
    numNodes: 2
    env:
      - name: SECRET
        valueFrom: { secretKeyRef: { name: s, key: k } }
      - name: LR
        value: "1"
  suspend: true
`;

  it("changes what the form changes, and leaves the rest with its comments", () => {
    const after = structuredClone(JOB);
    after.metadata.name = "b";
    after.spec.trainer.env = [{ name: "LR", value: "2" }];
    expect(merged(text, JOB, after)).toBe(text.replace("name: a #", "name: b #").replace('"1"', '"2"'));
  });

  it("removes what the form no longer has, and what that leaves empty", () => {
    const after: Record<string, unknown> = {
      kind: "TrainJob",
      metadata: { name: "a" },
      spec: { trainer: {} },
    };
    const found = merged(text, JOB, after);
    expect(found).toContain("SECRET");
    expect(found).not.toContain("numNodes");
    expect(found).not.toContain("LR");
  });

  it("gives back what the form makes, where nobody has changed the text", () => {
    const after = { ...JOB, metadata: { name: "b", labels: { "kueue.x-k8s.io/queue-name": "q" } } };
    expect(merged(textOf([JOB]), JOB, after)).toBe(textOf([after]));
    expect(merged(textOf([after]), after, JOB)).toBe(textOf([JOB]));
  });

  it("adds a list that the text does not have, with all of its items", () => {
    const env = ["A", "B", "C"].map((name) => ({ name, value: "x" }));
    const found = merged("spec:\n  x: 1\n", { spec: {} }, { spec: { env } });
    expect(found).toBe(textOf([{ spec: { x: 1, env } }]));
  });

  it("leaves a text alone that it cannot read", () => {
    expect(merged("a: [", JOB, JOB)).toBeNull();
    expect(merged("a: 1\n---\nb: 2\n", JOB, JOB)).toBeNull();
    expect(merged("just text", JOB, JOB)).toBeNull();
  });
});

it("writes code as lines", () => {
  expect(textOf([{ code: "import os\nprint(1)\n" }])).toBe("code: |\n  import os\n  print(1)\n");
});
