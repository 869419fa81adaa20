import { expect, it } from "vitest";
import { placeOf, windowsOf } from "./windows";

it.each([
  [0, 20, 1000, [0]],
  [90, 110, 1000, [0, 1]],
  [99_950, 99_999, 100_000, [999]],
  [0, 20, 0, [0]],
  [500, 520, 130, [1]],
  [0, 350, 1000, [0, 1, 2, 3]],
])("rows %d to %d of %d are in %j", (first, last, total, windows) =>
  expect(windowsOf(first, last, total)).toEqual(windows),
);

it("finds a row in its window", () => {
  expect(placeOf(0)).toEqual({ window: 0, index: 0 });
  expect(placeOf(12_345)).toEqual({ window: 123, index: 45 });
});
