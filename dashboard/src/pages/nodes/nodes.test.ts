import { expect, test } from "vitest";
import type { BackendNodes, NodeInfo } from "../../data/infra";
import {
  asideTerms,
  failuresText,
  filtered,
  filtersOf,
  rowsOf,
  searchOf,
  stateOf,
  summary,
  whyNot,
} from "./nodes";

function node(name: string, more: Partial<NodeInfo> = {}): NodeInfo {
  return {
    name,
    state: "up",
    sort: "",
    problem: "",
    drained: "",
    failures: {},
    jobs: [],
    ...more,
  } as NodeInfo;
}

function place(name: string, drains: boolean, ...nodes: NodeInfo[]): BackendNodes {
  return { name, nodes, drains } as BackendNodes;
}

const ASIDE = node("h2", { drained: "a loud fan", problem: "it is set aside: a loud fan" });
const LOST = node("h3", { problem: "it is lost", failures: { NodeLost: 2, ExitCode: 1 } });
const ROWS = rowsOf([place("local", false, node("box")), place("ssh/lab", true, node("h1"), ASIDE, LOST)]);
const ALL = { text: "", place: "", state: "" };

const names = (filters: Partial<typeof ALL>) =>
  filtered(ROWS, { ...ALL, ...filters }).map((row) => row.node.name);

test("nodes of all places are one list, which says where they can be set aside", () => {
  expect(ROWS.map((row) => [row.place, row.node.name, row.drains])).toEqual([
    ["local", "box", false],
    ["ssh/lab", "h1", true],
    ["ssh/lab", "h2", true],
    ["ssh/lab", "h3", true],
  ]);
  expect(ROWS.map((row) => stateOf(row.node))).toEqual(["ready", "ready", "aside", "away"]);
  expect(summary(ROWS)).toBe("4 nodes, 1 set aside, 1 takes no jobs");
  expect(summary(ROWS.slice(0, 1))).toBe("1 node");
});

test.each([
  [{ place: "local" }, ["box"]],
  [{ state: "ready" }, ["box", "h1"]],
  [{ state: "aside" }, ["h2"]],
  [{ state: "failures" }, ["h3"]],
  [{ text: "LOST" }, ["h3"]],
  [{ text: "h", place: "ssh/lab", state: "ready" }, ["h1"]],
  [{ state: "nonsense" }, []],
])("the filters %o leave %o", (filters, left) => {
  expect(names(filters)).toEqual(left);
});

test("filters are in the address", () => {
  const filters = { text: "h1", place: "ssh/lab", state: "aside" };
  expect(filtersOf(searchOf(filters))).toEqual(filters);
  expect(searchOf(ALL)).toEqual({ node: undefined, place: undefined, state: undefined });
});

test("who has set a node aside, since and until when, as far as it is known", () => {
  const hour = (moment: string) => moment.slice(11, 16);
  const terms = { drainedBy: "ana", drainedSince: "2026-11-18T04:00:00Z", drainedUntil: null };
  expect(asideTerms({ ...ASIDE, ...terms }, hour)).toBe("by ana, since 04:00");
  expect(asideTerms({ ...ASIDE, ...terms, drainedUntil: "2026-11-18T06:30:00Z" }, hour)).toBe(
    "by ana, since 04:00, until 06:30",
  );
  expect(asideTerms(ASIDE, hour)).toBe("");
  expect(asideTerms({ ...LOST, ...terms }, hour)).toBe("");
});

test("failures and reasons are told once, in words", () => {
  expect(failuresText(LOST)).toBe("3: 2 lost with the node, 1 ended with an error");
  expect(failuresText(node("h4", { failures: { ExitCode: 1 } }))).toBe("1 ended with an error");
  expect(failuresText(node("h5", { failures: { SomethingNew: 2 } }))).toBe("2 SomethingNew");
  expect(failuresText(ASIDE)).toBe("–");
  expect(whyNot(ASIDE)).toBe("a loud fan");
  expect(whyNot({ ...ASIDE, problem: "it is lost" })).toBe("a loud fan; it is lost");
  expect(whyNot(LOST)).toBe("it is lost");
});
