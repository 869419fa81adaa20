import { expect, test } from "vitest";
import { BOX, drawingOf } from "./drawing";
import { graphOf, layersOf } from "./graph";

type Tasks = Record<string, string[]>;
const tasksOf = (tasks: Tasks) => Object.entries(tasks).map(([name, after]) => ({ name, after }));

const CHAIN = { one: [], two: ["one"], three: ["two"] };
const DIAMOND = { prepare: [], left: ["prepare"], right: ["prepare"], report: ["left", "right", "prepare"] };

test.each<[string, Tasks, Record<string, number>]>([
  ["nothing", {}, {}],
  ["a chain", CHAIN, { one: 0, two: 1, three: 2 }],
  ["a diamond", DIAMOND, { prepare: 0, left: 1, right: 1, report: 2 }],
  ["tasks in any order", { last: ["first"], first: [] }, { first: 0, last: 1 }],
  ["a name that no task has", { a: ["nobody"] }, { a: 0 }],
  ["tasks that wait for each other", { a: ["b"], b: ["a"], c: [] }, { c: 0, a: 0, b: 1 }],
])("the layers of %s", (_, tasks, layers) => {
  expect(Object.fromEntries(layersOf(tasksOf(tasks)))).toEqual(layers);
});

test("an edge that passes a layer has a place there", () => {
  const { rows, chains } = graphOf(tasksOf(DIAMOND));
  expect(rows.map((row) => row.length)).toEqual([1, 3, 1]);
  expect(rows[1]?.filter((place) => place.name === undefined)).toHaveLength(1);
  const long = chains.find(({ from, to }) => from === "prepare" && to === "report");
  expect(long?.places.map((place) => place.layer)).toEqual([0, 1, 2]);
});

test("what belongs together is beside each other", () => {
  const { rows } = graphOf(tasksOf({ a: [], b: [], "after b": ["b"], "after a": ["a"] }));
  expect(rows.map((row) => row.map((place) => place.name))).toEqual([
    ["a", "b"],
    ["after a", "after b"],
  ]);
});

test.each(["across", "down"] as const)("nothing is drawn over something else, %s", (direction) => {
  const names = Array.from({ length: 30 }, (_, number) => `task-${number}`);
  const tasks = names.map((name, index) => ({
    name,
    after: names.slice(0, index).filter((_, other) => (index * 7 + other * 3) % 5 === 0),
  }));
  const { boxes, edges, width, height } = drawingOf(tasks, direction);
  expect(boxes).toHaveLength(30);
  expect(edges).toHaveLength(tasks.reduce((sum, task) => sum + task.after.length, 0));
  boxes.forEach((one, index) => {
    expect(one.x >= 0 && one.y >= 0).toBe(true);
    expect(one.x + BOX.width <= width && one.y + BOX.height <= height).toBe(true);
    for (const other of boxes.slice(index + 1)) {
      const isApart = Math.abs(one.x - other.x) >= BOX.width || Math.abs(one.y - other.y) >= BOX.height;
      expect(isApart).toBe(true);
    }
  });
  for (const { path } of edges) expect(path).not.toMatch(/NaN|undefined/);
});

test("a chain is a line, whichever way", () => {
  const across = drawingOf(tasksOf(CHAIN), "across");
  expect(new Set(across.boxes.map((box) => box.y)).size).toBe(1);
  expect(across.edges.map(({ from, to }) => [from, to])).toEqual([
    ["one", "two"],
    ["two", "three"],
  ]);
  const down = drawingOf(tasksOf(CHAIN), "down");
  expect(new Set(down.boxes.map((box) => box.x)).size).toBe(1);
  expect(down.width).toBeLessThan(200);
});
