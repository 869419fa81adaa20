import { expect, it } from "vitest";
import { costly, groupOf, rowKey } from "./costs";

const SUM = { name: "a", jobs: 1, gpuHours: 0, cpuHours: 0, id: null, attempt: null, saved: null };

it("adds up by job where the address says nothing that it knows", () => {
  expect([groupOf(""), groupOf("<b>"), groupOf("cluster")]).toEqual(["job", "job", "cluster"]);
});

it("leaves out what has cost nothing, except for days", () => {
  const items = [
    { ...SUM, cost: 1 },
    { ...SUM, cost: 0 },
    { ...SUM, cost: null },
  ];
  expect(costly(items, "user")).toHaveLength(1);
  expect(costly(items, "day")).toHaveLength(3);
});

it("tells jobs of one name apart", () => {
  expect(rowKey({ ...SUM, cost: 1, id: "x" })).not.toBe(rowKey({ ...SUM, cost: 1, id: "y" }));
});
