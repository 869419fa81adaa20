import { expect, it } from "vitest";
import { entryOf, NAVIGATION } from "./navigation";

it("knows which page a path belongs to", () => {
  expect(entryOf("/")?.path).toBe("/");
  expect(entryOf("/jobs")?.path).toBe("/jobs");
  expect(entryOf("/jobs/abc")?.path).toBe("/jobs");
  expect(entryOf("/jobsearch")).toBeUndefined();
});

it("has every path and key once", () => {
  expect(new Set(NAVIGATION.map((entry) => entry.path)).size).toBe(NAVIGATION.length);
  expect(new Set(NAVIGATION.map((entry) => entry.key)).size).toBe(NAVIGATION.length);
});
