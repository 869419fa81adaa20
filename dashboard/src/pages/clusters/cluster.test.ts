import { expect, it } from "vitest";
import type { Cluster, ClusterJob } from "../../data/clusters";
import {
  autostopText,
  clusterCost,
  endedWith,
  machinesText,
  minutesOf,
  queueOf,
  refusals,
  resourcesText,
} from "./cluster";

function item(number: number, phase: string): ClusterJob {
  const job = { metadata: { id: `id${number}`, name: `job-${number}` }, status: { phase } };
  return { number, resources: "", logs: "", job: job as ClusterJob["job"] };
}

it("has the jobs of a queue in its order", () => {
  const jobs = [
    item(6, "Queued"),
    item(5, "Paused"),
    item(4, "Starting"),
    item(3, "Failed"),
    item(2, "Running"),
    item(1, "Succeeded"),
  ];
  const { running, waiting, ended } = queueOf(jobs);
  expect(running.map(({ number }) => number)).toEqual([2, 4]);
  expect(waiting.map(({ number }) => number)).toEqual([5, 6]);
  expect(ended.map(({ number }) => number)).toEqual([3, 1]);
  expect(endedWith(jobs)).toEqual([
    "2: job-2 (Running)",
    "4: job-4 (Starting)",
    "5: job-5 (Paused)",
    "6: job-6 (Queued)",
  ]);
});

it("says what nodes have", () => {
  const of = (resources: Cluster["spec"]["resources"]) =>
    resourcesText({ spec: { resources } } as unknown as Cluster);
  expect(of({ cpus: "1", memory: "0", gpus: 0, accelerators: "" })).toBe("1 CPU");
  expect(of({ cpus: "4", memory: "16Gi", gpus: 8, accelerators: "A100:8" })).toBe("4 CPUs, 16 GiB, A100:8");
  expect(of({ cpus: "500m", memory: "0", gpus: 1, accelerators: "" })).toBe("0.5 CPUs, 1 GPU");
});

it("says what a cluster costs and may cost", () => {
  const now = Date.parse("2026-11-15T06:00:00Z");
  const of = (status: object) => clusterCost({ status } as unknown as Cluster, now);
  const since = { cost: 1, costSince: "2026-11-15T05:00:00Z", pricePerHour: 2 };
  expect(of({ ...since, budget: { limit: 50, warned: null } })).toBe(
    "$3.00 of at most $50.00, $2.00 an hour",
  );
  expect(of({ cost: null, budget: { limit: 50 } })).toBe("$0.00 of at most $50.00");
  expect(of({ cost: null, budget: null })).toBe("");
});

it("says which machines a cluster has, and what was tried before", () => {
  const tried = Array.from({ length: 7 }, (_, number) => ({
    infra: `aws/zone-${number}`,
    instanceType: "p5",
    error: "no capacity",
  }));
  const rental = { instanceType: "p5", spot: true, history: tried };
  const cluster = { status: { rental } } as unknown as Cluster;
  expect(machinesText(cluster)).toBe("p5, spot machines");
  expect(refusals(cluster)).toHaveLength(5);
  expect(refusals(cluster)[0]).toBe("aws/zone-6 p5: no capacity");
  const other = { status: { rental: null } } as unknown as Cluster;
  expect([machinesText(other), refusals(other)]).toEqual(["", []]);
});

it("says when a cluster stops", () => {
  expect(autostopText(null)).toBe("never");
  expect(autostopText({ idleMinutes: 90, down: false })).toBe("after 1 h 30 min without a job");
  expect(autostopText({ idleMinutes: 0, down: true })).toBe(
    "as soon as it has no job, then it is taken down",
  );
});

it("reads minutes", () => {
  expect(minutesOf(" 30 ")).toBe(30);
  expect(["", "-1", "1.5", "1e3", "99999999", "x"].map(minutesOf)).toEqual(Array(6).fill(null));
});
