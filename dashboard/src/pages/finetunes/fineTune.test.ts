import { expect, test } from "vitest";
import { resultState, shortName, tokensPerSecond } from "./fineTune";

function points(...pairs: [number, number][]) {
  return pairs.map(([seconds, value], index) => ({
    step: index,
    epoch: null,
    time: new Date(seconds * 1000).toISOString(),
    value,
  }));
}

test("tokens for each second are those of the last attempt", () => {
  expect(tokensPerSecond(undefined)).toBeNull();
  expect(tokensPerSecond(points([1, 100]))).toBeNull();
  expect(tokensPerSecond(points([0, 100], [10, 600]))).toBe(50);
  expect(tokensPerSecond(points([0, 100], [10, 5000], [100, 200], [110, 400]))).toBe(20);
  expect(tokensPerSecond(points([5, 100], [5, 200]))).toBeNull();
});

test("where a result stands", () => {
  expect(resultState({ phase: "Succeeded", exportState: "Done" })).toBe("uploaded");
  expect(resultState({ phase: "Failed", exportState: "Skipped" })).toContain("was not uploaded");
  expect(resultState({ phase: "Running", exportState: null })).toBe("written when the training ends");
  expect(resultState({ phase: "Cancelled", exportState: null })).toBe(
    "not complete, since the job was cancelled",
  );
  expect(resultState({ phase: "Succeeded", exportState: null })).toBe("");
});

test("short names", () => {
  expect(shortName("/srv/models/tiny/")).toBe("tiny");
  expect(shortName("hf://org/name")).toBe("name");
  expect(shortName("/")).toBe("/");
});
