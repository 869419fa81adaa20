import { expect, test } from "vitest";
import { membersOf, saidOf, type Job } from "./group";

function group(header: object, nodes: [string, string][], phase = "Running"): Job {
  const tasks = ["trainer", "Replay Buffer"].map((name) => ({ task: { name } }));
  return {
    spec: { objects: [{ kind: "Secret" }, { kind: "Task", spec: { header, tasks } }] },
    status: { phase, nodes: nodes.map(([role, each]) => ({ role, phase: each })) },
  } as unknown as Job;
}

const NODES: [string, string][] = [
  ["trainer", "Running"],
  ["trainer", "Pending"],
  ["replay-buffer", "Succeeded"],
];

test("tasks of a group have their nodes, and some of them are primary", () => {
  const members = membersOf(group({ execution: "parallel", primary_tasks: ["trainer"] }, NODES));
  expect(members.map((each) => [each.name, each.isPrimary])).toEqual([
    ["trainer", true],
    ["Replay Buffer", false],
  ]);
  expect(members.map(saidOf)).toEqual(["2 nodes, Running", "1 node, Succeeded"]);
});

test("an auxiliary task that was ended with a group that succeeded has not failed", () => {
  const header = { execution: "parallel", primary_tasks: ["trainer"] };
  const nodes: [string, string][] = [
    ["trainer", "Succeeded"],
    ["replay-buffer", "Failed"],
  ];
  const phases = (phase: string) => membersOf(group(header, nodes, phase)).map((each) => each.phase);
  expect(phases("Succeeded")).toEqual(["Succeeded", "Ended"]);
  expect(phases("Failed")).toEqual(["Succeeded", "Failed"]);
});

test("without primary tasks all are, and nodes that are not known yet are pending", () => {
  const members = membersOf(group({ execution: "parallel" }, []));
  expect(members.map((each) => each.isPrimary)).toEqual([true, true]);
  expect(members.map(saidOf)).toEqual(["0 nodes, Pending", "0 nodes, Pending"]);
});

test.each([{}, { execution: "serial" }])("what does not run side by side is no group: %j", (header) => {
  expect(membersOf(group(header, NODES))).toEqual([]);
});
