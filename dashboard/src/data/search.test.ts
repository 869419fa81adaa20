import { expect, it } from "vitest";
import { parseSearch, searchText, value, values } from "./search";

it.each(["", "?name=a", "?label=team%3Dnlp&label=x&name=1e3", "?name=%3Cb%3E+true"])(
  "comes back as it was: %s",
  (text) => expect(searchText(parseSearch(text))).toBe(text),
);

it("keeps texts as they are, whatever they look like", () => {
  expect(parseSearch("?a=1&b=true&c=%22x%22")).toEqual({ a: "1", b: "true", c: '"x"' });
});

it("leaves out what is empty", () => {
  expect(searchText({ a: "", b: undefined, c: [], d: ["x", ""] })).toBe("?d=x");
});

it("gives one value or all", () => {
  const search = parseSearch("?label=a&label=b&name=c");
  expect(values(search, "label")).toEqual(["a", "b"]);
  expect(value(search, "label")).toBe("b");
  expect(value(search, "missing")).toBe("");
});
