import { expect, test } from "vitest";
import type { Schedule } from "../../data/schedules";
import { jobsOf, remark, wallTime } from "./schedule";

function schedule(status: Partial<Schedule["status"]>): Schedule {
  return {
    status: { next: null, last: null, due: [], waiting: null, activeJobs: [], ...status },
  } as unknown as Schedule;
}

const last = {
  time: "2026-11-18T03:00:00Z",
  result: "Skipped",
  message: "the job before runs",
  job: null,
  run: null,
};

test.each([
  [{}, ""],
  [{ last }, "the job before runs"],
  [
    { last, due: ["2026-11-18T03:00:00Z"], waiting: "slurm/hpc does not answer" },
    "slurm/hpc does not answer",
  ],
  [{ due: ["2026-11-18T03:00:00Z"] }, "A former job has to end first."],
])("what gets in the way is said: %#", (status, text) => {
  expect(remark(schedule(status))).toBe(text);
});

test("a moment is shown on the clock of the schedule", () => {
  expect(wallTime("2026-11-18T02:00:00Z", "Europe/Berlin")).toBe("Wed, 18 Nov 2026, 03:00");
  expect(wallTime("2026-11-18T00:00:00Z", "UTC")).toContain("00:00");
  expect(wallTime("2026-11-18T02:00:00Z", "Mars")).toBe("2026-11-18T02:00:00Z");
  expect(wallTime("soon", "UTC")).toBe("soon");
});

test("the jobs of a schedule are found by their label", () => {
  expect(jobsOf("nightly").label).toBe("trainway.dev/schedule=nightly");
});
