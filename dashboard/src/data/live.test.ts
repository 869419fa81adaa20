import { expect, it } from "vitest";
import { changedJobs, waitBefore } from "./live";

it("waits ever longer, up to half a minute", () => {
  expect([0, 1, 2, 10, 2000].map(waitBefore)).toEqual([1_000, 2_000, 4_000, 30_000, 30_000]);
});

it("reads which jobs an event names, and nothing from nonsense", () => {
  expect(changedJobs('{"jobs": ["a", "b"]}')).toEqual(["a", "b"]);
  expect(changedJobs("{}")).toBeNull();
  expect(changedJobs("<")).toBeNull();
  expect(changedJobs("null")).toBeNull();
});
