import { describe, expect, it } from "vitest";
import {
  aligned,
  best,
  compared,
  differing,
  metricNames,
  referencesOf,
  usualGoal,
  type Job,
} from "./comparison";

const NOW = Date.parse("2026-11-17T10:00:00Z");

function job(id: string, parameters: Record<string, string>, status: Partial<Job["status"]> = {}): Job {
  return {
    metadata: { id, name: id },
    spec: { parameters },
    status: {
      phase: "Succeeded",
      reason: "",
      message: "",
      startTime: "2026-11-17T09:00:00Z",
      completionTime: "2026-11-17T09:30:00Z",
      usage: { gpuHours: 1 },
      ...status,
    },
  };
}

const loss = (minimum: number, maximum = 9) => ({ loss: { last: minimum, minimum, maximum, step: 1 } });
const A = compared(job("a", { lr: "0.1", seed: "1" }), loss(0.5), NOW);
const B = compared(job("b", { lr: "0.2", seed: "1" }), loss(0.3), NOW);

describe("compared", () => {
  it("adds what runs to what was used", () => {
    const usage = { gpuHours: 1, runningSince: "2026-11-17T09:30:00Z", gpus: 4 };
    const found = compared(job("c", {}, { phase: "Running", completionTime: null, usage }), {}, NOW);
    expect([found.seconds, found.gpuHours, found.end]).toEqual([3600, 3, ""]);
  });

  it("says why a job failed, whatever the server knows of it", () => {
    const failure = { summary: "out of memory" };
    expect(compared(job("c", {}, { phase: "Failed", failure }), {}, NOW).end).toBe("out of memory");
    expect(compared(job("c", {}, { phase: "Cancelled", reason: "Cancelled" }), {}, NOW).end).toBe(
      "Cancelled",
    );
    expect(compared(job("c", {}, { startTime: null }), {}, NOW).seconds).toBeNull();
  });
});

it("shows the parameters that differ", () => {
  expect(differing([A, B])).toEqual(["lr"]);
  expect(differing([A, compared(job("c", {}), {}, NOW)])).toEqual(["lr", "seed"]);
});

it("finds the best by an objective", () => {
  expect(best([A, B], "loss", "min")).toBe("b");
  expect(best([A, B], "loss", "max")).toBe("a");
  expect(best([A, B], "accuracy", "max")).toBe("");
  expect([usualGoal("eval_loss"), usualGoal("accuracy")]).toEqual(["min", "max"]);
});

it("leaves the progress out where there are results", () => {
  const progress = { progress: { last: 1, minimum: 0, maximum: 1, step: null } };
  expect(metricNames([{ ...A, metrics: { ...A.metrics, ...progress } }])).toEqual(["loss"]);
  expect(metricNames([{ ...A, metrics: progress }])).toEqual(["progress"]);
});

it("reads references from the address", () => {
  expect(referencesOf(["a,b", " b ,c", ""])).toEqual(["a", "b", "c"]);
});

describe("aligned", () => {
  it("puts curves over the steps of all", () => {
    const time = "2026-11-17T09:00:00Z";
    const curve = (...pairs: [number, number][]) => pairs.map(([step, value]) => ({ step, value, time }));
    expect(aligned([curve([1, 10], [3, 30]), curve([2, 5])])).toEqual({
      unit: "step",
      data: [
        [1, 2, 3],
        [10, null, 30],
        [null, 5, null],
      ],
    });
  });

  it("takes the time since each began where steps are missing", () => {
    const points = [
      { step: null, time: "2026-11-17T09:00:00Z", value: 1 },
      { step: 2, time: "2026-11-17T09:00:05Z", value: 2 },
    ];
    expect(aligned([points])).toEqual({
      unit: "seconds",
      data: [
        [0, 5],
        [1, 2],
      ],
    });
  });
});
