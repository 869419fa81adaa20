import { expect, it } from "vitest";
import { countOf, matching } from "./prices";

it("finds accelerators by a part of their name", () => {
  const found = [
    { name: "A100-80GB", counts: [8] },
    { name: "H100", counts: [8] },
  ];
  expect(matching(found, " a100").map((each) => each.name)).toEqual(["A100-80GB"]);
  expect(matching(found, "")).toHaveLength(2);
});

it("takes nonsense for any number", () => {
  expect(["8", "0.5", "", "-1", "many", "Infinity"].map(countOf)).toEqual([8, 0.5, 0, 0, 0, 0]);
});
