import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Hint } from "./Hint";

const cases: [string, string][] = [
  ["run `az login`, or set A", "Run <code>az login</code>, or set A"],
  ["`aws sso login` logs in", "<code>aws sso login</code> logs in"],
  ["trainway jobs list shows them all", "trainway jobs list shows them all"],
  ["one ` alone is no code", "One ` alone is no code"],
  ["<b>`<i>`", "&lt;b&gt;<code>&lt;i&gt;</code>"],
];

test.each(cases)("%s", (text, drawn) => {
  expect(renderToStaticMarkup(<Hint text={text} />)).toBe(`<span class="tw-break">${drawn}</span>`);
});
