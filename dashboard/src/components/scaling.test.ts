import { expect, it } from "vitest";
import { nodesNow, wantedNodes } from "./scaling";

it("counts the nodes that can be more", () => {
  const roles = ["launcher", "worker", "worker", "dataset-initializer"];
  expect(nodesNow(roles.map((role) => ({ role })))).toBe(2);
});

it("takes numbers that a job can have", () => {
  expect([" 4 ", "1", "10000"].map(wantedNodes)).toEqual([4, 1, 10_000]);
  expect(["0", "", "-1", "1.5", "10001", "1e3", "x"].map(wantedNodes)).toEqual(Array(7).fill(null));
});
