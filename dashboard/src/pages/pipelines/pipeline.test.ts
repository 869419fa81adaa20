import { expect, test } from "vitest";
import type { Run } from "../../data/pipelines";
import { againFrom, countsText, durationOf, phaseOf, shortened, since, spanOf, tasksOf } from "./pipeline";

const AFTER: Record<string, string[]> = {
  prepare: [],
  train: ["prepare"],
  other: [],
  report: ["train", "other"],
};

function run(phases: Record<string, string>, times: Record<string, [string, string | null]> = {}): Run {
  return {
    pipeline: { tasks: Object.entries(AFTER).map(([name, after]) => ({ name, after })) },
    status: { phases: { Succeeded: 1, Queued: 2 } },
    jobs: Object.entries(phases).map(([task, phase]) => ({
      metadata: { id: task, labels: { "trainway.dev/task": task } },
      status: { phase, startTime: times[task]?.[0] ?? null, completionTime: times[task]?.[1] ?? null },
    })),
  } as unknown as Run;
}

const FAILED = { prepare: "Succeeded", train: "Failed", other: "Running", report: "Cancelled" };
const DELETED = { prepare: "Succeeded", train: "Failed", other: "Running" };
const names = (phases: Record<string, string>, from: string) =>
  againFrom(tasksOf(run(phases)), from).map((task) => task.name);

test("tasks have the jobs that are theirs", () => {
  const tasks = tasksOf(run(DELETED));
  expect(tasks.map(phaseOf)).toEqual(["Succeeded", "Failed", "Running", "Deleted"]);
  expect(since(tasks, "prepare").map((task) => task.name)).toEqual(["prepare", "train", "report"]);
});

test.each<[string, Record<string, string>, string, string[]]>([
  ["from the one that failed", FAILED, "train", ["train", "report"]],
  ["from the beginning", FAILED, "prepare", ["prepare", "train", "report"]],
  ["not while what comes before it has failed", FAILED, "report", []],
  ["not what still runs", FAILED, "other", []],
  ["not while one after it runs", { ...FAILED, report: "Running" }, "train", []],
])("it runs again %s", (_, phases, from, again) => {
  expect(names(phases, from)).toEqual(again);
});

test("nothing runs again whose job was deleted", () => {
  expect(names(DELETED, "train")).toEqual([]);
});

test("durations are those of the tasks, and of all of them", () => {
  const [start, end] = ["2026-11-17T03:00:00Z", "2026-11-17T03:01:00Z"];
  const now = Date.parse("2026-11-17T03:05:00Z");
  const tasks = tasksOf(run(FAILED, { prepare: [start, end], other: [end, null] }));
  expect(tasks.map((task) => durationOf(task, now))).toEqual(["1 min", "", "4 min", ""]);
  expect(spanOf(tasks, now)).toBe("5 min");
  const done = tasksOf(run({ ...FAILED, other: "Failed" }, { prepare: [start, end] }));
  expect(spanOf(done, now)).toBe("1 min");
  expect(spanOf(tasksOf(run(FAILED)), now)).toBe("");
});

test("counts and names are short", () => {
  expect(countsText(run(FAILED))).toBe("1 Succeeded, 2 Queued");
  expect(shortened("prepare", 7)).toBe("prepare");
  expect(shortened("preparation", 7)).toBe("prepar…");
});
