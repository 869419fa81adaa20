import { expect, it } from "vitest";
import { groupOf, usageRows } from "./usage";

it("adds up by user where the address says nothing that it knows", () => {
  expect([groupOf(""), groupOf("<b>"), groupOf("day")]).toEqual(["user", "user", "day"]);
});

it("has the columns of the command line", () => {
  expect(usageRows("team", [{ name: "a", jobs: 1, gpuHours: 0.5, cpuHours: 2 }])).toEqual([
    ["team", "jobs", "gpuHours", "cpuHours"],
    ["a", 1, 0.5, 2],
  ]);
});
