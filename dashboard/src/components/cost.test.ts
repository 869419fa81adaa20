import { expect, it } from "vitest";
import { costText } from "./cost";

const NOW = Date.parse("2026-11-15T06:00:00Z");

it("counts what runs until now, and says what it may cost", () => {
  const usage = { cost: 1.5, costSince: "2026-11-15T05:30:00Z", pricePerHour: 4 };
  expect(costText(usage, { limit: 50 }, NOW)).toBe("$3.50 of at most $50.00, $4.00 an hour");
  expect(costText({ cost: 0.0042, saved: 2 }, null, NOW)).toBe("$0.0042, $2.00 less than on demand");
});
