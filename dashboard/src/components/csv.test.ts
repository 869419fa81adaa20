import { expect, it } from "vitest";
import { csvText } from "./csv";

it("writes what a spreadsheet reads as it is", () => {
  expect(
    csvText([
      ["user", "hours"],
      ["a,b", 1.5],
      ['say "x"', -2],
      ["two\nlines", 0],
    ]),
  ).toBe('user,hours\n"a,b",1.5\n"say ""x""",-2\n"two\nlines",0\n');
});

it("writes no formula", () => {
  expect(csvText([["=cmd()", "+1", "-x", "@a"]])).toBe("'=cmd(),'+1,'-x,'@a\n");
});
