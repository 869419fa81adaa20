/**
 * The tasks of a pipeline in layers, each after all that it depends on. Pure.
 *
 * An edge that passes layers has a place in each of them, so that it runs beside the tasks there and not through
 * them. Within a layer everything is near to what it is connected with, which keeps edges from crossing.
 */
import type { PipelineTask } from "../../data/pipelines";

const SWEEPS = 4;

/** A task, or the place of an edge in a layer that it passes. */
export interface Place {
  layer: number;
  /** Of a task; undefined: an edge passes here. */
  name?: string;
  before: Place[];
  after: Place[];
  rank: number;
}

/** From one task to another, through the layers between them. */
export interface Chain {
  from: string;
  to: string;
  places: readonly Place[];
}

export interface Graph {
  /** The layers, each with its places in their order. */
  rows: readonly (readonly Place[])[];
  chains: readonly Chain[];
}

export function graphOf(tasks: readonly PipelineTask[]): Graph {
  const places = new Map<string, Place>();
  const layers = layersOf(tasks);
  const rows: Place[][] = [];
  for (const [name, layer] of layers) {
    const place = { layer, name, before: [], after: [], rank: 0 };
    places.set(name, place);
    (rows[layer] ??= []).push(place);
  }
  const chains = tasks.flatMap((task) =>
    earlier(task, layers).map((from) => ({
      from,
      to: task.name,
      places: chainOf(from, task.name, places, rows),
    })),
  );
  ordered(rows);
  return { rows, chains };
}

/** The layer of each task: one more than the last of those that it comes after. */
export function layersOf(tasks: readonly PipelineTask[]): Map<string, number> {
  const found = new Map<string, number>();
  const names = new Set(tasks.map((task) => task.name));
  let left = [...tasks];
  while (left.length > 0) {
    const ready = left.filter((task) => task.after.every((each) => found.has(each) || !names.has(each)));
    // Tasks that wait for each other do not exist, but must not hang the page.
    for (const task of ready.length > 0 ? ready : left) {
      const layers = task.after.map((each) => found.get(each) ?? -1);
      found.set(task.name, Math.max(-1, ...layers) + 1);
    }
    left = left.filter((task) => !found.has(task.name));
  }
  return found;
}

/** The tasks before one, as far as they are in layers before its own. */
function earlier(task: PipelineTask, layers: ReadonlyMap<string, number>): string[] {
  const own = layers.get(task.name) ?? 0;
  return [...new Set(task.after)].filter((each) => (layers.get(each) ?? own) < own);
}

/** Connects two tasks through all layers between them. */
function chainOf(from: string, to: string, places: ReadonlyMap<string, Place>, rows: Place[][]): Place[] {
  const [first, last] = [places.get(from), places.get(to)];
  if (!first || !last) return [];
  const chain = [first];
  for (let layer = first.layer + 1; layer < last.layer; layer++) {
    const passing: Place = { layer, before: [], after: [], rank: 0 };
    rows[layer]?.push(passing);
    chain.push(passing);
  }
  chain.push(last);
  for (const [index, place] of chain.entries()) {
    const next = chain[index + 1];
    if (!next) break;
    place.after.push(next);
    next.before.push(place);
  }
  return chain;
}

/** Sorts each layer by the middle of what its places are connected with, forth and back. */
function ordered(rows: Place[][]): void {
  const rank = (row: Place[]) => row.forEach((place, index) => (place.rank = index));
  rows.forEach(rank);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const isForth = sweep % 2 === 0;
    for (const row of isForth ? rows : rows.toReversed()) {
      const middles = new Map(
        row.map((place) => [place, middle(isForth ? place.before : place.after, place)]),
      );
      row.sort((one, other) => (middles.get(one) ?? 0) - (middles.get(other) ?? 0));
      rank(row);
    }
  }
}

function middle(others: readonly Place[], own: Place): number {
  if (others.length === 0) return own.rank;
  return others.reduce((sum, place) => sum + place.rank, 0) / others.length;
}
