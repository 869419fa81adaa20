import { expect, test } from "vitest";
import { secondsOf } from "./attempt";

const startTime = "2026-11-15T05:00:00Z";

test("of an attempt that runs the time goes on, and of no other one", () => {
  expect(secondsOf({ startTime, endTime: null, seconds: 3 }, 10)).toBe(13);
  expect(secondsOf({ startTime, endTime: null, seconds: 3 }, -1)).toBe(3);
  expect(secondsOf({ startTime, endTime: startTime, seconds: 3 }, 10)).toBe(3);
  expect(secondsOf({ startTime: null, endTime: null, seconds: 0 }, 10)).toBe(0);
});
