import { expect, it } from "vitest";
import { lastDay, sumOf } from "./day";

it("has every hour of the last day once, and nothing older", () => {
  const hours = [
    { hour: "2026-03-01T11:00:00Z", counts: { submitted: 2, Failed: 1 } },
    { hour: "2026-02-20T11:00:00Z", counts: { submitted: 9 } },
  ];
  const day = lastDay(hours, Date.parse("2026-03-01T12:34:56Z"));
  expect(day).toHaveLength(24);
  expect(day[0]?.hour).toBe("2026-02-28T13:00:00.000Z");
  expect(day.at(-2)?.counts).toEqual({ submitted: 2, Failed: 1 });
  expect(sumOf(day, "submitted")).toBe(2);
  expect(sumOf(day, "Succeeded")).toBe(0);
});
