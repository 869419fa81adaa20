import { expect, it } from "vitest";
import { costText, endOf, limitText, spendingOf } from "./cost";

const NOW = Date.parse("2026-11-15T06:00:00Z");

it("counts what runs until now, and says what it may cost", () => {
  const usage = { cost: 1.5, costSince: "2026-11-15T05:30:00Z", pricePerHour: 4 };
  expect(costText(usage, { limit: 50 }, NOW)).toBe("$3.50 of at most $50.00, $4.00 an hour");
  expect(costText({ cost: 0.0042, saved: 2 }, null, NOW)).toBe("$0.0042, $2.00 less than on demand");
});

const USAGE = { cost: 30, costSince: "2026-11-15T05:00:00Z", pricePerHour: 12 };
const EARLIER = "2026-11-15T05:50:00Z";

it.each([
  [30.5, 50, "fine", 61],
  [39.99, 50, "fine", 79],
  [40, 50, "near", 80],
  [49.99, 50, "near", 99],
  [50, 50, "spent", 100],
  [51, 50, "spent", 102],
])("of what has cost %d of %d it is %s", (cost, limit, standing, percent) => {
  expect(spendingOf({ usage: { cost }, budget: { limit, warned: null } }, NOW)).toMatchObject({
    standing,
    percent,
  });
});

it("counts what a run costs until now, and knows what the server has said of its limit", () => {
  const budget = { limit: 60, warned: null, ended: null };
  const text = "$42.00 of at most $60.00, $12.00 an hour";
  expect(spendingOf({ usage: USAGE, budget }, NOW)).toEqual({ text, percent: 70, standing: "fine" });
  const standing = (told: object) =>
    spendingOf({ usage: USAGE, budget: { ...budget, ...told } }, NOW)?.standing;
  expect(standing({ warned: EARLIER })).toBe("near");
  expect(standing({ warned: EARLIER, ended: EARLIER })).toBe("spent");
});

it("says nothing where there is neither a price nor a limit", () => {
  expect(spendingOf({}, NOW)).toBeNull();
  expect(spendingOf({ usage: {}, budget: null }, NOW)).toBeNull();
  expect(spendingOf({ usage: { gpuHours: 1, cost: null } }, NOW)).toBeNull();
  expect(spendingOf({ usage: USAGE }, NOW)).toEqual({
    text: "$42.00, $12.00 an hour",
    percent: null,
    standing: "fine",
  });
  expect(spendingOf({ usage: {}, budget: { limit: 50 } }, NOW)).toEqual({
    text: "at most $50.00, no price is known so far",
    percent: null,
    standing: "fine",
  });
});

it("says how a limit stands where costs are not told", () => {
  expect(limitText(null)).toBe("");
  expect(limitText({ limit: 50, warned: null, ended: null })).toBe("$50.00");
  expect(limitText({ limit: 50, warned: EARLIER, ended: null })).toBe("$50.00, 80 % or more is spent");
  expect(limitText({ limit: 50, warned: EARLIER, ended: EARLIER })).toBe("$50.00, all of it is spent");
  expect(endOf({ limit: 50, warned: EARLIER, ended: null })).toBeNull();
  expect(endOf({ limit: 50, warned: EARLIER, ended: EARLIER })).toEqual({ limit: 50, time: EARLIER });
});
