import { expect, test } from "vitest";
import { leastWidth } from "./widths";

test("a row is as wide as the least widths of its columns, the gaps and the padding", () => {
  expect(leastWidth(["2.5rem", "minmax(14rem, 1.5fr)", "8rem"])).toBe("27.5rem");
});
