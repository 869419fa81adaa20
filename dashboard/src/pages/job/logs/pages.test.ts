import { describe, expect, it } from "vitest";
import {
  choiceQuery,
  isAtEnd,
  isAtStart,
  linesOf,
  MOST_PAGES,
  shareAt,
  withNewer,
  withOlder,
  type LogPage,
  type Pages,
} from "./pages";

function page(before: number, behind: number, count = 2, size = 10_000): LogPage {
  const lines = Array.from({ length: count }, (_, index) => ({
    id: `${before}:${index}`,
    node: "node-0",
    container: "main",
    attempt: 0,
    time: "",
    stream: "stdout",
    text: `${before}.${index}`,
    omitted: 0,
    partial: false,
  }));
  return { lines, start: `s${before}`, end: `e${behind}`, before, behind, size };
}

describe("what is in the browser", () => {
  it("grows at both ends", () => {
    const older = withOlder([page(200, 300)], page(100, 200));
    expect(older.added).toBe(2);
    const pages = withNewer(older.pages, page(300, 400));
    expect(linesOf(pages).map((line) => line.text)).toEqual([
      "100.0",
      "100.1",
      "200.0",
      "200.1",
      "300.0",
      "300.1",
    ]);
    expect([pages[0]?.start, pages.at(-1)?.end]).toEqual(["s100", "e400"]);
  });

  it("is bounded, and can go on where something was dropped", () => {
    let pages: Pages = [page(5_000, 5_100)];
    for (let at = 5_100; at < 7_000; at += 100) pages = withNewer(pages, page(at, at + 100));
    expect(pages.length).toBe(MOST_PAGES);
    expect(isAtStart(pages)).toBe(false);
    for (let at = 5_900; at >= 0; at -= 100) pages = withOlder(pages, page(at, at + 100)).pages;
    expect(pages.length).toBe(MOST_PAGES);
    expect([pages[0]?.before, isAtEnd(pages)]).toEqual([0, false]);
  });

  it("learns from an empty window how long the log is", () => {
    const pages = withNewer([page(0, 10_000)], { ...page(10_000, 10_000, 0, 10_050), end: "later" });
    expect([pages.length, pages[0]?.end, pages[0]?.size]).toEqual([1, "later", 10_050]);
    expect(withOlder([page(5, 9)], page(0, 0, 0)).pages[0]?.before).toBe(0);
  });
});

it("tells where in the log a line is", () => {
  const pages = [page(0, 5_000), page(5_000, 10_000)];
  expect([0, 1, 2, 3, 4].map((index) => shareAt(pages, index))).toEqual([0, 0.25, 0.5, 0.75, 1]);
  expect(shareAt([], 3)).toBe(0);
});

it.each([
  [{ node: "", attempt: "" }, {}],
  [
    { node: "node/0/3", attempt: "2" },
    { role: "node", job: 0, rank: 3, attempt: 2 },
  ],
  [{ node: "", attempt: "all" }, { all_attempts: true }],
  [{ node: "nonsense", attempt: "x" }, {}],
])("asks for %j", (choice, query) => expect(choiceQuery(choice)).toEqual(query));
