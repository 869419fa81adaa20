/** Where the tasks of a pipeline and the edges between them are drawn. Pure. */
import type { PipelineTask } from "../../data/pipelines";
import { graphOf, type Place } from "./graph";

export const BOX = { width: 152, height: 56 } as const;
/** Between two layers, and between two places of one. */
const GAP = { along: 36, beside: 20 } as const;
/** How broad an edge is where it passes a layer. */
const LANE = 12;
const MARGIN = 4;

export type Direction = "across" | "down";

export interface Box {
  name: string;
  x: number;
  y: number;
}

export interface Edge {
  from: string;
  to: string;
  /** The `d` of a path. */
  path: string;
}

export interface Drawing {
  boxes: Box[];
  edges: Edge[];
  width: number;
  height: number;
}

/** A point by how far it is along the layers, and how far beside. */
interface Point {
  along: number;
  beside: number;
}

interface Spot extends Point {
  /** How far its end is along. */
  end: number;
  /** Its middle, where edges come and go. */
  middle: number;
}

export function drawingOf(tasks: readonly PipelineTask[], direction: Direction): Drawing {
  const { rows, chains } = graphOf(tasks);
  const isAcross = direction === "across";
  const [long, broad] = isAcross ? [BOX.width, BOX.height] : [BOX.height, BOX.width];
  const spots = spotsOf(rows, long, broad);
  const length = rows.length * (long + GAP.along) - GAP.along + 2 * MARGIN;
  const breadth = Math.max(0, ...rows.map((row) => breadthOf(row, broad))) + 2 * MARGIN;
  const write = ({ along, beside }: Point) => (isAcross ? `${along} ${beside}` : `${beside} ${along}`);
  const boxes = rows.flat().flatMap((place): Box[] => {
    const spot = spots.get(place);
    if (place.name === undefined || !spot) return [];
    const [x, y] = isAcross ? [spot.along, spot.beside] : [spot.beside, spot.along];
    return [{ name: place.name, x, y }];
  });
  const edges = chains.map(({ from, to, places }) => ({
    from,
    to,
    path: pathOf(
      places.flatMap((place) => spots.get(place) ?? []),
      write,
    ),
  }));
  const [width, height] = isAcross ? [length, breadth] : [breadth, length];
  return { boxes, edges, width, height };
}

function thickness(place: Place, broad: number): number {
  return place.name === undefined ? LANE : broad;
}

function breadthOf(row: readonly Place[], broad: number): number {
  return row.reduce((sum, place) => sum + thickness(place, broad) + GAP.beside, -GAP.beside);
}

/** Each layer after the one before it, and its places beside each other around the middle. */
function spotsOf(rows: readonly (readonly Place[])[], long: number, broad: number): Map<Place, Spot> {
  const spots = new Map<Place, Spot>();
  const broadest = Math.max(0, ...rows.map((row) => breadthOf(row, broad)));
  rows.forEach((row, layer) => {
    const along = MARGIN + layer * (long + GAP.along);
    let beside = MARGIN + (broadest - breadthOf(row, broad)) / 2;
    for (const place of row) {
      const size = thickness(place, broad);
      spots.set(place, { along, beside, end: along + long, middle: beside + size / 2 });
      beside += size + GAP.beside;
    }
  });
  return spots;
}

/** A curve from the end of each spot to the beginning of the next, and straight through those between. */
function pathOf(spots: readonly Spot[], write: (point: Point) => string): string {
  const [first, ...others] = spots;
  if (!first) return "";
  let former = { along: first.end, beside: first.middle };
  let path = `M${write(former)}`;
  others.forEach((spot, index) => {
    const goal = { along: spot.along, beside: spot.middle };
    const half = (former.along + goal.along) / 2;
    const bends = [former, goal].map((point) => write({ along: half, beside: point.beside }));
    path += ` C${bends.join(" ")} ${write(goal)}`;
    former = { along: spot.end, beside: spot.middle };
    if (index < others.length - 1) path += ` L${write(former)}`;
  });
  return path;
}
