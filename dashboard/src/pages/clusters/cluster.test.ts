import { expect, it } from "vitest";
import type { Cluster, ClusterJob } from "../../data/clusters";
import { autostopText, endedWith, minutesOf, queueOf, resourcesText } from "./cluster";

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
