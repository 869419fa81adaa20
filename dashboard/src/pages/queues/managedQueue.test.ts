import { expect, test } from "vitest";
import type { ManagedQueue } from "../../data/managedQueues";
import { barsOf, rulesOf } from "./managedQueue";

function queue(spec: object, used: object = {}, gpuHoursUsed = 0): ManagedQueue {
  return { spec, status: { used, gpuHoursUsed } } as unknown as ManagedQueue;
}

test("a quota is shown with what is used of it", () => {
  const bars = barsOf(queue({ quota: { cpu: "8", jobs: 4 }, gpuHoursPerMonth: 100 }, { cpu: "2" }, 25));
  expect(bars.map((bar) => [bar.name, bar.used, bar.quota])).toEqual([
    ["cpu", 2, 8],
    ["jobs", 0, 4],
    ["GPU-hours this month", 25, 100],
  ]);
  expect(bars[1]?.label).toBe("jobs: 0 of 4 used");
  expect(barsOf(queue({}))).toEqual([]);
});

test("what a queue has beyond its quota is borrowed, or more than it may have by now", () => {
  const labels = (spec: object, used: object) => barsOf(queue(spec, used)).map((bar) => bar.label);
  const quota = { jobs: 1, memory: "1Gi" };
  expect(labels({ quota, cohort: "lab" }, { jobs: 5, memory: "3Gi" })).toEqual([
    "jobs: 5 of 1 used, 4 borrowed",
    "memory: 3.0 GiB of 1.0 GiB used, 2.0 GiB borrowed",
  ]);
  expect(labels({ quota }, { jobs: 2 })[0]).toBe("jobs: 2 of 1 used, 1 above the quota");
});

test("only rules that somebody gave are shown", () => {
  expect(rulesOf(queue({}))).toEqual([]);
  expect(rulesOf(queue({ cohort: "research", weight: 2 }))).toEqual([
    ["Cohort", "research"],
    ["Weight", "2"],
  ]);
});
