import { describe, expect, it } from "vitest";
import { afterReturns, marked, plain, spansOf } from "./ansi";

describe("spansOf", () => {
  it("makes classes of colours", () => {
    expect(spansOf("\x1b[31mred\x1b[0m and \x1b[1;92mbold\x1b[22;39m end")).toEqual([
      { text: "red", classes: "tw-ansi-1" },
      { text: " and ", classes: "" },
      { text: "bold", classes: "tw-ansi-2 tw-ansi-bold" },
      { text: " end", classes: "" },
    ]);
  });

  it.each([
    ["\x1b]0;title\x07text", "text"],
    ["\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"],
    ["\x1b[2J\x1b[10;5Htext\x1b[K", "text"],
    ["\x1bPsecret\x1b\\text", "text"],
    ["\x1b[38;5;196mtext\x1b[48;2;1;2;3m!", "text!"],
    ["a\x00b\x07c\x7f", "a\u2400b\u2407c\u2421"],
    ["abc\u202edef", "abc\u2426def"],
    ["<script>alert(1)</script>", "<script>alert(1)</script>"],
    ["text\x1b", "text"],
    ["text\x1b[", "text"],
    ["", ""],
  ])("leaves out what controls a terminal: %j", (line, text) => expect(plain(line)).toBe(text));

  it("keeps the colour of 38;5 from being read as others", () => {
    expect(spansOf("\x1b[38;5;31mx")).toEqual([{ text: "x", classes: "" }]);
  });
});

it.each([
  ["10 %\r20 %\r30 %", "30 %"],
  ["done\r", "done"],
  ["\r\r", ""],
  ["plain", "plain"],
])("shows what is left after carriage returns: %j", (line, text) => expect(afterReturns(line)).toBe(text));

describe("marked", () => {
  it("marks what was searched for, whatever its case", () => {
    expect(marked([{ text: "Loss, loss", classes: "tw-ansi-1" }], "LOSS")).toEqual([
      { text: "Loss", classes: "tw-ansi-1 tw-found" },
      { text: ", ", classes: "tw-ansi-1" },
      { text: "loss", classes: "tw-ansi-1 tw-found" },
    ]);
  });

  it("marks nothing where nothing is wanted, or lower case is longer", () => {
    expect(marked([{ text: "abc", classes: "" }], "")).toEqual([{ text: "abc", classes: "" }]);
    expect(marked([{ text: "İx", classes: "" }], "x")).toEqual([{ text: "İx", classes: "" }]);
  });
});
