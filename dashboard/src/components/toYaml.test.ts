import { expect, it } from "vitest";
import { toYaml } from "./toYaml";

it("writes objects and lists as people do", () => {
  const value = {
    apiVersion: "v1",
    metadata: { name: "demo", labels: {}, "trainway.dev/x": "z" },
    spec: {
      list: [{ name: "a", args: ["--lr", "0.1"] }, []],
      empty: [],
      number: 1.5,
      truth: true,
      none: null,
      gone: undefined,
    },
  };
  expect(toYaml(value)).toBe(`apiVersion: v1
metadata:
  name: demo
  labels: {}
  trainway.dev/x: z
spec:
  list:
  - name: a
    args:
    - "--lr"
    - "0.1"
  - []
  empty: []
  number: 1.5
  truth: true
  none: null
`);
});

it.each([
  ["yes", '"yes"'],
  ["", '""'],
  ["1", '"1"'],
  ["a: b", '"a: b"'],
  ["a #b", '"a #b"'],
  ["- a", '"- a"'],
  [" a", '" a"'],
  ["a ", '"a "'],
  ["*x", '"*x"'],
  ["<script>", '"<script>"'],
  ["/bin/sh", "/bin/sh"],
  ["..", '".."'],
  ["a\tb", '"a\\tb"'],
])("a text stays a text: %j", (text, yaml) => expect(toYaml({ a: text })).toBe(`a: ${yaml}\n`));

it("keeps the lines of a text", () => {
  expect(toYaml({ run: "one\n  two\n", end: "a\nb", both: "a\n\n" })).toBe(
    "run: |\n  one\n    two\nend: |-\n  a\n  b\nboth: |+\n  a\n\n",
  );
  expect(toYaml(["a\nb"])).toBe("- |-\n  a\n  b\n");
  expect(toYaml({ odd: " a\nb" })).toBe('odd: " a\\nb"\n');
});
