import { describe, expect, it } from "vitest";
import { chartsOf, columnsOf, spoken } from "./charts";
import { stepsOf } from "./steps";
import { counter, lastMetrics, timeLeft } from "../../../components/timeLeft";
import type { Schemas } from "../../../data/client";

const NOW = Date.parse("2026-03-01T12:00:10Z");
const TOLD = "2026-03-01T12:00:00Z";

describe("timeLeft", () => {
  it.each([
    [{ estimatedRemainingSeconds: 60, lastUpdatedTime: TOLD }, 50, true],
    [{ estimatedRemainingSeconds: 5, lastUpdatedTime: TOLD }, 0, true],
    [{ progressPercentage: 25, lastUpdatedTime: TOLD }, 290, false],
    [{ progressPercentage: 100, lastUpdatedTime: TOLD }, 0, false],
  ])("%j", (progress, seconds, isReported) =>
    expect(timeLeft(progress, "2026-03-01T11:58:20Z", NOW)).toEqual({ seconds, isReported }),
  );

  it.each([[null], [{}], [{ progressPercentage: 0, lastUpdatedTime: TOLD }], [{ progressPercentage: 50 }]])(
    "nobody can tell from %j",
    (progress) => expect(timeLeft(progress, "2026-03-01T11:58:20Z", NOW)).toBeNull(),
  );
});

it("tells step and epoch apart from the metrics", () => {
  const metrics = [
    { name: "step", value: "12" },
    { name: "epoch", value: "0.333333" },
    { name: "loss", value: "0.5" },
  ];
  expect([counter({ metrics }, "step"), counter({ metrics }, "epoch"), counter(null, "step")]).toEqual([
    "12",
    "0.33",
    "",
  ]);
  expect(lastMetrics({ metrics })).toEqual([{ name: "loss", value: "0.5" }]);
});

const point = (step: number | null, value: number, second = 0) => ({
  step,
  value,
  time: `2026-03-01T12:00:0${second}Z`,
});

describe("charts", () => {
  const charts = chartsOf({
    "loss@1": [point(1, 5), point(3, 6)],
    loss: [point(1, 4), point(2, 3)],
    "<b>": [point(null, 1)],
  });

  it("have a line for each rank", () => {
    expect(charts.map((chart) => [chart.name, chart.lines.map((line) => line.label)])).toEqual([
      ["<b>", ["<b>"]],
      ["loss", ["rank 1", "loss"]],
    ]);
  });

  it("have columns that uPlot draws", () => {
    const [chart] = charts.filter(({ name }) => name === "loss");
    if (!chart) throw new Error("no chart");
    expect(columnsOf(chart, "step")).toEqual([
      [1, 2, 3],
      [5, null, 6],
      [4, 3, null],
    ]);
    expect(columnsOf({ name: "x", lines: [{ label: "x", points: [point(9, 1, 2)] }] }, "time")).toEqual([
      [1772366402],
      [1],
    ]);
    expect(spoken(chart, { loss: { last: 3, minimum: 3, maximum: 4, step: 2 } })).toBe(
      "Chart of loss. rank 1; loss: last 3, from 3 to 4",
    );
  });
});

function job(phase: string, nodes: object[], more: object = {}): Schemas["Job"] {
  const status = { phase, nodes, message: "", queuePosition: null, startTime: "x", ...more };
  return { status } as unknown as Schemas["Job"];
}
const node = (role: string, phase: string, rank = 0, more = {}) => ({ role, job: 0, rank, phase, ...more });
const states = (found: Schemas["Job"]) =>
  stepsOf(found).map((step) => [
    step.key,
    step.state,
    ...step.children.map((child) => `${child.key} ${child.state}`),
  ]);

describe("steps", () => {
  it("have the initializers before the training", () => {
    const nodes = [
      node("dataset-initializer", "Succeeded"),
      node("model-initializer", "Running"),
      node("node", "Pending"),
    ];
    expect(states(job("Running", nodes))).toEqual([
      ["queue", "done"],
      ["initialization", "active", "dataset-initializer done", "model-initializer active"],
      ["training", "waiting", "node waiting"],
    ]);
  });

  it.each([
    [
      "Queued",
      [node("node", "Pending")],
      [
        ["queue", "active"],
        ["training", "waiting", "node waiting"],
      ],
    ],
    [
      "Paused",
      [node("node", "Pending")],
      [
        ["queue", "done"],
        ["training", "paused", "node paused"],
      ],
    ],
    [
      "Succeeded",
      [node("node", "Succeeded")],
      [
        ["queue", "done"],
        ["training", "done", "node done"],
      ],
    ],
    [
      "Cancelled",
      [node("node", "Failed")],
      [
        ["queue", "done"],
        ["training", "skipped", "node skipped"],
      ],
    ],
    [
      "Failed",
      [node("launcher", "Failed", 0, { stopped: true }), node("worker", "Failed", 1)],
      [
        ["queue", "done"],
        ["training", "failed", "launcher failed", "worker failed"],
      ],
    ],
  ])("of a job that is %s", (phase, nodes, wanted) => expect(states(job(phase, nodes))).toEqual(wanted));

  it("say why a job waits, and who failed", () => {
    const waiting = stepsOf(job("Queued", [], { queuePosition: 2, message: "needs 4 GPUs" }));
    expect(waiting[0]?.detail).toBe("position 2: needs 4 GPUs");
    const failed = stepsOf(job("Failed", [node("node", "Running"), node("node", "Failed", 1)]));
    expect(failed[1]?.children[0]?.detail).toBe("2 nodes: 1 running, node-1 failed");
  });
});
