import { expect, test } from "vitest";
import { usage } from "./cache";

test("a cache is read by its address, where that is known", () => {
  expect(usage({ address: "cache://127.0.0.1:15042" })).toBe('TableDataset("cache://127.0.0.1:15042")');
  expect(usage({ address: "" })).toBe("");
});
