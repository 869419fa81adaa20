/** The way of a job as a tree of steps, as far as it has come. Pure. */
import type { Schemas } from "../../../data/client";
import { nodeName, nodesOf, type JobNode } from "../nodes/node";

export type StepState = "done" | "active" | "waiting" | "failed" | "paused" | "skipped";

export interface Step {
  key: string;
  title: string;
  state: StepState;
  /** What is to be said of it: "2 of 4 nodes run". */
  detail: string;
  children: Step[];
}

const INITIALIZERS: Record<string, string> = {
  "dataset-initializer": "Initializing data",
  "model-initializer": "Initializing model",
};
const BEFORE_START = ["Pending", "Queued", "Inadmissible"];
const OVER = ["Succeeded", "Failed", "Cancelled"];

/** Waiting, initialization where there is any, and training, each with its nodes' roles. */
export function stepsOf(job: Schemas["Job"]): Step[] {
  const { status } = job;
  const byRole = new Map<string, JobNode[]>();
  for (const node of nodesOf(job)) byRole.set(node.role, [...(byRole.get(node.role) ?? []), node]);
  const roles = [...byRole].map(([role, nodes]) => roleStep(role, nodes, status.phase));
  const initializers = roles.filter((step) => step.key in INITIALIZERS);
  const training = roles.filter((step) => !(step.key in INITIALIZERS));
  const steps = [queueStep(status)];
  if (initializers.length > 0) steps.push(together("initialization", "Initialization", initializers));
  steps.push(together("training", "Training", training));
  return steps.map((step) => adjusted(step, status));
}

function queueStep(status: Schemas["JobStatus"]): Step {
  const isWaiting = BEFORE_START.includes(status.phase);
  const detail = isWaiting
    ? [status.queuePosition ? `position ${status.queuePosition}` : "", status.message]
        .filter(Boolean)
        .join(": ")
    : "";
  const isSkipped = !status.startTime && OVER.includes(status.phase);
  const state: StepState = isWaiting ? "active" : isSkipped ? "skipped" : "done";
  return {
    key: "queue",
    title: isWaiting ? "Waiting for resources" : "Resources",
    state,
    detail,
    children: [],
  };
}

function roleStep(role: string, nodes: JobNode[], phase: string): Step {
  const count = (wanted: string) => nodes.filter((node) => node.phase === wanted).length;
  const failed = nodes.filter((node) => node.phase === "Failed" && !node.stopped);
  const [running, succeeded] = [count("Running"), count("Succeeded")];
  const state: StepState =
    failed.length > 0 || (phase === "Failed" && count("Failed") > 0)
      ? "failed"
      : succeeded === nodes.length
        ? "done"
        : running + succeeded > 0
          ? "active"
          : "waiting";
  const parts = [
    running ? `${running} running` : "",
    succeeded ? `${succeeded} done` : "",
    failed.length ? `${failed.map(nodeName).slice(0, 3).join(", ")} failed` : "",
    count("Pending") ? `${count("Pending")} not started` : "",
  ].filter(Boolean);
  const title = INITIALIZERS[role] ?? (role === "node" ? "Nodes" : `Nodes of role ${role}`);
  return {
    key: role,
    title,
    state,
    detail: `${nodes.length === 1 ? "1 node" : `${nodes.length} nodes`}: ${parts.join(", ")}`.replace(
      /: $/,
      "",
    ),
    children: [],
  };
}

function together(key: string, title: string, children: Step[]): Step {
  const states = children.map((child) => child.state);
  const state: StepState = states.includes("failed")
    ? "failed"
    : states.length > 0 && states.every((each) => each === "done")
      ? "done"
      : states.some((each) => each === "active" || each === "done")
        ? "active"
        : "waiting";
  return { key, title, state, detail: "", children };
}

/** What the job as a whole says about a step. */
function adjusted(step: Step, status: Schemas["JobStatus"]): Step {
  const change = (state: StepState): StepState => {
    if (status.phase === "Paused" && (state === "active" || state === "waiting")) return "paused";
    if (status.phase === "Cancelled" && (state === "active" || state === "waiting" || state === "failed"))
      return "skipped";
    if (status.phase === "Succeeded" && step.key !== "queue") return "done";
    if (status.phase === "Failed" && state === "waiting") return "skipped";
    if (status.phase === "Failed" && step.key === "training" && state === "active") return "failed";
    return state;
  };
  return {
    ...step,
    state: change(step.state),
    children: step.children.map((child) => ({ ...child, state: change(child.state) })),
  };
}
