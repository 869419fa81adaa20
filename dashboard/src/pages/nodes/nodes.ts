/** What the page of the nodes shows of them, over all places. Pure. */
import { count } from "../../components/format";
import type { BackendNodes, NodeInfo } from "../../data/infra";
import { value, type Search } from "../../data/search";
import { matching } from "../infra/infra";

/** A node, and where it is. */
export interface NodeRow {
  place: string;
  node: NodeInfo;
  /** Whether the place can set it aside. */
  drains: boolean;
}

export const STATES = {
  ready: "Ready",
  aside: "Set aside",
  away: "Takes no jobs",
} as const;
export type NodeState = keyof typeof STATES;

/** What somebody wants to see; empty: everything. */
export interface NodeFilters {
  text: string;
  place: string;
  /** A state, or `failures`: those where attempts of jobs have failed. */
  state: string;
}

export function stateOf(node: NodeInfo): NodeState {
  if (node.drained) return "aside";
  return node.problem ? "away" : "ready";
}

/** The nodes of all places that have answered, in the order of the places. */
export function rowsOf(places: readonly BackendNodes[]): NodeRow[] {
  return places.flatMap(({ name, nodes, drains }) => nodes.map((node) => ({ place: name, node, drains })));
}

export function filtersOf(search: Search): NodeFilters {
  return { text: value(search, "node"), place: value(search, "place"), state: value(search, "state") };
}

export function searchOf({ text, place, state }: NodeFilters): Search {
  return { node: text || undefined, place: place || undefined, state: state || undefined };
}

export function filtered(rows: readonly NodeRow[], { text, place, state }: NodeFilters): NodeRow[] {
  return rows.filter(
    (row) =>
      (!place || row.place === place) &&
      (!state || (state === "failures" ? failed(row.node) > 0 : stateOf(row.node) === state)) &&
      matching([row.node], text).length > 0,
  );
}

/** `1,000 nodes, 2 set aside, 1 takes no jobs`. */
export function summary(rows: readonly NodeRow[]): string {
  const states = rows.map((row) => stateOf(row.node));
  const [aside, away] = (["aside", "away"] as const).map(
    (wanted) => states.filter((state) => state === wanted).length,
  ) as [number, number];
  return [
    count(rows.length, "node"),
    ...(aside > 0 ? [`${aside} set aside`] : []),
    ...(away > 0 ? [`${away} ${away === 1 ? "takes" : "take"} no jobs`] : []),
  ].join(", ");
}

/** How many attempts of jobs failed there in the last day. */
export function failed(node: NodeInfo): number {
  return Object.values(node.failures).reduce((sum, number) => sum + number, 0);
}

/** What became of an attempt, by the cause that the server names in one word. */
const ENDS: Readonly<Record<string, string>> = {
  Preempted: "preempted",
  NodeLost: "lost with the node",
  OutOfMemory: "out of memory",
  ExitCode: "ended with an error",
  Timeout: "out of time",
  Hang: "hung",
  Refused: "not started",
  AgentLost: "lost with the agent",
  Budget: "out of money",
  Unknown: "for unknown reasons",
};

/** `3: 2 lost with the node, 1 ended with an error`; `–` where there were none. */
export function failuresText(node: NodeInfo): string {
  const ends = Object.entries(node.failures).map(([cause, number]) => `${number} ${ENDS[cause] ?? cause}`);
  const text = ends.join(", ") || "–";
  return ends.length > 1 ? `${failed(node)}: ${text}` : text;
}

/** `by ana, since 4:00, until 6:00`, as far as it is known; empty: nothing is. */
export function asideTerms(
  { drained, drainedBy, drainedSince, drainedUntil }: NodeInfo,
  shown: (moment: string) => string,
): string {
  if (!drained) return "";
  return [
    ...(drainedBy ? [`by ${drainedBy}`] : []),
    ...(drainedSince ? [`since ${shown(drainedSince)}`] : []),
    ...(drainedUntil ? [`until ${shown(drainedUntil)}`] : []),
  ].join(", ");
}

/** Why it takes no jobs, each reason once; empty: it does. */
export function whyNot({ drained, problem }: NodeInfo): string {
  if (!drained) return problem;
  return !problem || problem.includes(drained) ? drained : `${drained}; ${problem}`;
}
