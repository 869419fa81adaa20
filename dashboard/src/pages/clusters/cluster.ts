/** What there is to say about a cluster and its queue. Pure. */
import { amountText } from "../../components/amounts";
import { costText } from "../../components/cost";
import { count, duration } from "../../components/format";
import { isOver } from "../../components/phases";
import type { Autostop, Cluster, ClusterJob } from "../../data/clusters";

/** What each node has: `4 CPUs, 16 GiB, A100:8`. */
export function resourcesText(cluster: Cluster): string {
  const { cpus, memory, gpus, accelerators } = cluster.spec.resources;
  const parts = [`${amountText("cpu", cpus)} ${cpus === "1" ? "CPU" : "CPUs"}`];
  if (memory && memory !== "0") parts.push(amountText("memory", memory));
  if (accelerators) parts.push(accelerators);
  else if (gpus > 0) parts.push(count(gpus, "GPU"));
  return parts.join(", ");
}

/** What it has cost, and may cost; empty: nobody knows what it costs, and it may cost anything. */
export function clusterCost({ status }: Cluster, now: number): string {
  const isKnown = status.cost !== null && status.cost !== undefined;
  if (!isKnown && !status.budget) return "";
  return costText(status, status.budget, now);
}

/** Which machines are rented for it: `p5.48xlarge, spot machines`; empty: none are. */
export function machinesText({ status }: Cluster): string {
  if (!status.rental) return "";
  return `${status.rental.instanceType}, ${status.rental.spot ? "spot machines" : "on demand"}`;
}

const SHOWN = 5;

/** What clouds have refused before, the latest first: `aws/us-east-1 p5.48xlarge: no capacity`. */
export function refusals({ status }: Cluster): string[] {
  const history = status.rental?.history ?? [];
  return history
    .slice(-SHOWN)
    .reverse()
    .map(({ infra, instanceType, error }) => `${infra} ${instanceType}: ${error}`);
}

/** When it stops by itself: `after 30 min without a job`. */
export function autostopText(autostop: Autostop | null): string {
  if (!autostop) return "never";
  const end = autostop.down ? ", then it is taken down" : "";
  if (autostop.idleMinutes === 0) return `as soon as it has no job${end}`;
  return `after ${duration(autostop.idleMinutes * 60)} without a job${end}`;
}

const RUNS = ["Starting", "Running", "Restarting", "Stopping"];

export interface Queue {
  /** Those that run, in the order in which they began. */
  running: ClusterJob[];
  /** Those that wait, the next one first. */
  waiting: ClusterJob[];
  /** Those that have ended, the last one first. */
  ended: ClusterJob[];
}

/** The jobs of a cluster, which come newest first, in the order of its queue. */
export function queueOf(jobs: readonly ClusterJob[]): Queue {
  const oldest = [...jobs].sort((a, b) => a.number - b.number);
  const isRunning = ({ job }: ClusterJob) => RUNS.includes(job.status.phase);
  const isEnded = ({ job }: ClusterJob) => isOver(job.status.phase);
  return {
    running: oldest.filter(isRunning),
    waiting: oldest.filter((item) => !isRunning(item) && !isEnded(item)),
    ended: oldest.filter(isEnded).reverse(),
  };
}

/** The names of the jobs that end when the cluster does. */
export function endedWith(jobs: readonly ClusterJob[]): string[] {
  const { running, waiting } = queueOf(jobs);
  return [...running, ...waiting].map(
    ({ number, job }) => `${number}: ${job.metadata.name} (${job.status.phase})`,
  );
}

/** Whole minutes that somebody has written; null: it is no such number. */
export function minutesOf(text: string): number | null {
  return /^\d{1,7}$/.test(text.trim()) ? Number(text) : null;
}
