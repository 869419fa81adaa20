import { expect, test } from "vitest";
import { usage } from "./cache";

test("a cache is read by its address, where that is known", () => {
  const address = "cache://127.0.0.1:15042";
  expect(usage({ address, state: "Ready" })).toBe('TableDataset("cache://127.0.0.1:15042")');
  expect(usage({ address: "", state: "Starting" })).toBe("");
  expect(usage({ address, state: "Failed" })).toBe("");
});
