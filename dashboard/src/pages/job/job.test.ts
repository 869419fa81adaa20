import { describe, expect, it } from "vitest";
import { adviceFor } from "./advice";
import { exitText, nodeName, seriesOf, shellCommand } from "./nodes/node";
import { sparkPath } from "../../components/sparkline";
import { requestText, roleRequests } from "./requests";

describe("advice", () => {
  it.each([
    ["node-1 was killed by SIGKILL: it ran out of memory", "memory"],
    ["node-0 exited with 127 (attempt 1 of 1)", "PATH"],
    ["node-0 exited with 1 (attempt 1 of 1)", "last lines"],
    ["node-0 hung: no report for 30m", "stacks"],
    ["node-0 failed on h1: NODE_FAIL", "run the job again"],
    ["", "events"],
  ])("for %j names %s", (summary, word) =>
    expect(adviceFor({ reason: "", message: "", failure: { summary } })).toContain(word),
  );

  it.each([
    ["ExitCode", "node-1 exited with 3 (attempt 1 of 1); the other node was stopped", "last lines"],
    ["ExitCode", "node-0 exited with 1: gRPC: deadline exceeded (attempt 1 of 1)", "last lines"],
    ["ExitCode", "node-0 was killed by SIGKILL (attempt 1 of 1)", "signal"],
    ["ExitCode", "node-0 exited with 127 (attempt 1 of 1)", "PATH"],
    ["AgentLost", "node-0 failed on h1: HostLost", "took all memory"],
    ["Preempted", "node-0 failed on h1", "run the job again"],
    ["Budget", "", "larger budget"],
    ["Refused", "", "what the message names"],
    ["Refused", "node-0 could not be started: no such image", "PATH"],
    ["SomethingNew", "", "events"],
  ])("by the cause %s of %j says %s", (cause, summary, word) => {
    const failure = summary ? { summary } : null;
    expect(adviceFor({ reason: "", message: "", failure, cause })).toContain(word);
  });
});

describe("nodes", () => {
  const node = { role: "node", job: 0, rank: 1, phase: "Running", ready: true, restarts: 0 };

  it("are called as in front of log lines", () => {
    expect([nodeName(node), nodeName({ ...node, job: 2 })]).toEqual(["node-1", "node-2-1"]);
    expect(shellCommand("a1b2", node)).toBe("trainway jobs shell a1b2 --role node --rank 1");
    expect(shellCommand("a1b2", { ...node, job: 2 })).toBe("");
    expect([
      exitText(node),
      exitText({ ...node, exitCode: 0 }),
      exitText({ ...node, lastExitCode: 3 }),
    ]).toEqual(["", "0", "last 3"]);
  });

  it("find what was measured of them", () => {
    const names = [
      "system/cpu@node-1",
      "system/cpu@node-11",
      "system/memory@node-1",
      "system/gpu0.power@node-1",
      "system/gpu0.utilization@node-1",
      "system/gpu.utilization@node-1",
    ];
    expect(seriesOf(names, "node-1", "cpu")).toEqual(["system/cpu@node-1"]);
    expect(seriesOf(names, "node-1", "gpu")).toEqual([
      "system/gpu0.utilization@node-1",
      "system/gpu.utilization@node-1",
    ]);
  });
});

it("draws a line through numbers", () => {
  expect(sparkPath([], 10, 10)).toBe("");
  expect(sparkPath([0, 5, 10], 10, 10)).toBe("M0 10L5 5L10 0");
  expect(sparkPath([5], 10, 10, 10)).toBe("M0 5L10 5");
  expect(sparkPath([0, 0], 10, 10)).toBe("M0 10L10 10");
});

it("reads what pods ask for, whatever is there", () => {
  const containers = [
    { resources: { requests: { cpu: "2" } } },
    { resources: { requests: { cpu: "0.5", memory: "1Gi" } } },
  ];
  const jobSet = {
    spec: {
      replicatedJobs: [
        {
          name: "node",
          replicas: 2,
          template: { spec: { parallelism: 3, template: { spec: { containers } } } },
        },
      ],
    },
  };
  const [role] = roleRequests(jobSet);
  expect(role).toEqual({ role: "node", nodes: 6, requests: { cpu: "2 + 0.5", memory: "1Gi" }, limits: {} });
  expect(requestText(role?.requests ?? {})).toBe("cpu 2 + 0.5, memory 1Gi");
  expect(roleRequests({ spec: { replicatedJobs: "nonsense" } })).toEqual([]);
  expect(roleRequests(null)).toEqual([]);
});
