import { describe, expect, it } from "vitest";
import { parseSearch, searchText } from "../../data/search";
import { filtersOf, isFiltered, queryOf, searchOf, sortedBy } from "./filters";

const of = (text: string) => filtersOf(parseSearch(text));

describe("the address of the list", () => {
  it.each([
    "",
    "?text=bert",
    "?backend=ssh%2Flab&kind=TrainJob&user=ada&since=7d&phase=Failed%2CQueued&label=a%3Db&label=c&metric=loss%3C0.3",
    "?sort=name&order=ascending",
    "?group=none",
    "?run=abc",
  ])("comes back as it was: %s", (text) => expect(searchText(searchOf(of(text)))).toBe(text));

  it("means the newest first, runs in one row, where it says nothing", () => {
    expect(queryOf(of(""))).toMatchObject({ sort: "created", ascending: false, grouped: true, phase: "" });
    expect(isFiltered(of("?sort=name"))).toBe(false);
    expect(isFiltered(of("?label=a"))).toBe(true);
  });

  it("survives nonsense", () => {
    expect(of("?sort=%3Cscript%3E&order=up&phase=,,").sort).toBe("created");
    expect(of("?phase=,,").phase).toEqual([]);
  });
});

it("asks for phases, and for jobs that are active or have ended", () => {
  expect(queryOf(of("?phase=active"))).toMatchObject({ phase: "", active: true });
  expect(queryOf(of("?phase=ended"))).toMatchObject({ phase: "", active: false });
  expect(queryOf(of("?phase=Failed,Paused"))).toMatchObject({ phase: "Failed,Paused" });
});

it("shows single jobs where they are sorted otherwise, or are those of a run", () => {
  expect(of("?sort=name").isGrouped).toBe(false);
  expect(of("?run=abc").isGrouped).toBe(false);
});

it("turns the order round with the second click", () => {
  const once = sortedBy(of(""), "name");
  expect(once).toMatchObject({ sort: "name", isAscending: true, isGrouped: false });
  expect(sortedBy(once, "name").isAscending).toBe(false);
  expect(sortedBy(of(""), "created").isAscending).toBe(true);
});
