import { expect, it } from "vitest";
import { quotaBar } from "./quotas";

const GPU = { flavor: "a100", resource: "nvidia.com/gpu", nominal: "8", used: "5", borrowed: "0" };

it("says how much of a quota is used, and what is borrowed", () => {
  expect(quotaBar(GPU)).toEqual({
    key: "a100 nvidia.com/gpu",
    name: "nvidia.com/gpu of a100",
    used: 5,
    nominal: 8,
    label: "5 of 8 used",
  });
  expect(quotaBar({ ...GPU, used: "9", borrowed: "1" }).label).toBe("9 of 8 used, 1 of it borrowed");
});

it("says memory in the units of people, and leaves alone what is no amount", () => {
  const memory = { flavor: "", resource: "memory", nominal: "64Gi", used: "8Gi", borrowed: "0" };
  expect(quotaBar(memory)).toMatchObject({ name: "memory", label: "8.0 GiB of 64 GiB used" });
  expect(quotaBar({ ...memory, used: "<b>" })).toMatchObject({ used: 0, label: "<b> of 64 GiB used" });
});
