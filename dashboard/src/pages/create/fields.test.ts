import { describe, expect, it } from "vitest";
import { completed, exampleOf, fieldsOf, KINDS, linesOf, variablesOf } from "./fields";
import { messagesFor } from "./messages";

describe("fieldsOf", () => {
  it("asks for a queue and a namespace only where there are some", () => {
    const names = (backend: string) => fieldsOf("TrainJob", backend).map((field) => field.name);
    expect(names("local")).not.toContain("queue");
    expect(names("k8s/kind/team")).toEqual(expect.arrayContaining(["queue", "namespace"]));
  });

  it("has an example for every kind with all that is required", () => {
    for (const { kind } of KINDS) {
      const example = exampleOf(kind, "local");
      for (const field of fieldsOf(kind, "local").filter((each) => each.isRequired)) {
        expect(example[field.name], `${kind} ${field.name}`).not.toBe("");
      }
    }
  });
});

it("reads variables from lines, and writes them so", () => {
  const env = { A: "1", URL: "http://x/?a=b", EMPTY: "" };
  expect(variablesOf(linesOf(env))).toEqual(env);
  expect(variablesOf("\n =x\nA\n B = c \n")).toEqual({ A: "", B: " c " });
});

it("fills in what the server leaves out", () => {
  expect(completed({ kind: "Task", name: "a" })).toMatchObject({
    kind: "Task",
    name: "a",
    command: "",
    nodes: null,
  });
});

it("says beside a field what is wrong with it, once and in words", () => {
  const finding = (path: string, input: string) => ({
    path,
    input,
    message: `${path}: Invalid value: "lots": should match '^(+|-)?[0-9]+(Gi)?$'`,
  });
  const found = [
    finding("a.limits.memory", "memory"),
    finding("a.requests.memory", "memory"),
    finding("x", ""),
  ];
  expect(messagesFor(found, "memory")).toEqual([
    'Invalid value: "lots": must be an amount such as 2, 500m or 16Gi',
  ]);
  const name = {
    path: "metadata.name",
    input: "name",
    message:
      'metadata.name: Invalid value: "A B": metadata.name must match RFC 1035 DNS label format: error;',
  };
  expect(messagesFor([name], "name")).toEqual([
    'Invalid value: "A B": must be lowercase letters, digits and hyphens, with a letter first and no hyphen at the end',
  ]);
});
