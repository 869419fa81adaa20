import { describe, expect, it } from "vitest";
import { neighbour, step, type Shortcut } from "./keyboard";

const shortcut = (keys: string): Shortcut => ({ keys, does: keys, run: () => undefined });
const SHORTCUTS = ["/", "j", "g j", "g o", "?"].map(shortcut);
const plain = (key: string) => ({ key, hasModifier: false, isTyping: false });

describe("step", () => {
  it("finds one key, and several one after the other", () => {
    expect(step(SHORTCUTS, "", plain("j")).found?.keys).toBe("j");
    expect(step(SHORTCUTS, "", plain("g"))).toEqual({ pending: "g", found: undefined });
    expect(step(SHORTCUTS, "g", plain("j")).found?.keys).toBe("g j");
  });

  it("takes a key by itself where it does not go on what was pressed", () => {
    expect(step(SHORTCUTS, "g", plain("/")).found?.keys).toBe("/");
    expect(step(SHORTCUTS, "g", plain("x"))).toEqual({ pending: "", found: undefined });
  });

  it("leaves letters to who types, and to the browser", () => {
    expect(step(SHORTCUTS, "", { ...plain("j"), isTyping: true }).found).toBeUndefined();
    expect(step(SHORTCUTS, "", { ...plain("j"), hasModifier: true }).found).toBeUndefined();
    expect(step(SHORTCUTS, "g", plain("Shift"))).toEqual({ pending: "", found: undefined });
  });

  it("prefers what was added last", () => {
    const page = shortcut("j");
    expect(step([...SHORTCUTS, page], "", plain("j")).found).toBe(page);
  });
});

it.each([
  [-1, 1, 3, 0],
  [-1, -1, 3, 2],
  [2, 1, 3, 2],
  [0, -1, 3, 0],
  [1, 1, 3, 2],
  [0, 1, 0, -1],
] as const)("from row %d by %d of %d to %d", (current, by, count, next) =>
  expect(neighbour(current, by, count)).toBe(next),
);
