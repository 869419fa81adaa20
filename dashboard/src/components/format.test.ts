import { describe, expect, it } from "vitest";
import { ago, bytes, count, duration, elapsed, figure, namesText } from "./format";

const NOW = Date.parse("2026-03-01T12:00:00Z");

describe("duration", () => {
  it.each([
    [0, "0 s"],
    [59.4, "59 s"],
    [60, "1 min"],
    [125, "2 min 5 s"],
    [3600, "1 h"],
    [7_500, "2 h 5 min"],
    [90_000, "1 d 1 h"],
    [-3, "0 s"],
    [Number.NaN, "–"],
  ])("%d s is %s", (seconds, text) => expect(duration(seconds)).toBe(text));
});

describe("ago", () => {
  it.each([
    ["2026-03-01T11:59:58Z", "just now"],
    ["2026-03-01T11:55:00Z", "5 min ago"],
    ["2026-02-27T11:00:00Z", "2 d ago"],
    ["2026-03-01T12:10:00Z", "in 10 min"],
    ["nonsense", "–"],
  ])("%s was %s", (moment, text) => expect(ago(moment, NOW)).toBe(text));
});

it("counts the time of what has not ended until now", () => {
  expect(elapsed("2026-03-01T11:00:00Z", null, NOW)).toBe("1 h");
  expect(elapsed("2026-03-01T11:00:00Z", "2026-03-01T11:00:10Z", NOW)).toBe("10 s");
  expect(elapsed(null, null, NOW)).toBe("–");
});

it("writes numbers as people read them", () => {
  expect(count(1, "job")).toBe("1 job");
  expect(count(1200, "job")).toBe("1,200 jobs");
  expect(bytes(512)).toBe("512 B");
  expect(bytes(1536)).toBe("1.5 KiB");
  expect(bytes(64 * 2 ** 30)).toBe("64 GiB");
  expect(figure(0.123456)).toBe("0.1235");
  expect(figure(Number.POSITIVE_INFINITY)).toBe("Infinity");
});

it("names a few, and says how many more there are", () => {
  expect(namesText(["a", "b"])).toBe("a, b");
  expect(namesText(["a", "b", "c", "d"], 2)).toBe("a, b and 2 more");
});
