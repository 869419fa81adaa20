import { expect, it } from "vitest";
import { diffLines, hasChanges } from "./diff";

const SIGNS = { same: " ", added: "+", removed: "-" };
const shown = (before: string, after: string) =>
  diffLines(before, after).map((line) => SIGNS[line.kind] + line.text);

it("shows what was removed and added between what stayed", () => {
  expect(shown("a\nb\nc\nd\n", "a\nx\nc\ny\nd\n")).toEqual([" a", "-b", "+x", " c", "+y", " d"]);
});

it.each([
  ["", "", []],
  ["a", "a", [" a"]],
  ["", "a", ["+a"]],
  ["a\nb", "", ["-a", "-b"]],
  ["a\na", "a", [" a", "-a"]],
])("%j to %j", (before, after, lines) => expect(shown(before, after)).toEqual(lines));

it("gives up on what nobody reads", () => {
  const many = (word: string) => Array.from({ length: 3_000 }, (_, index) => `${word}${index}`).join("\n");
  const lines = diffLines(many("a"), many("b"));
  expect([lines.length, hasChanges(lines)]).toEqual([6_000, true]);
  expect(hasChanges(diffLines(many("a"), many("a")))).toBe(false);
});
