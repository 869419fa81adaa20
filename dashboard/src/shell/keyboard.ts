/**
 * Keys that do something on a page. Pure: what a key means, given what was pressed before.
 *
 * Who types into a field, holds a modifier or has a dialog open means the letter itself.
 */

export interface Shortcut {
  /** One key, or several one after the other: `/`, `g j`. */
  keys: string;
  /** What it does, for the list of keys. */
  does: string;
  run: () => void;
}

export interface Press {
  key: string;
  hasModifier: boolean;
  isTyping: boolean;
}

/** What was pressed so far, and the shortcut that it makes, if it makes one. */
export interface Step {
  pending: string;
  found: Shortcut | undefined;
}

export function step(shortcuts: readonly Shortcut[], pending: string, press: Press): Step {
  if (press.isTyping || press.hasModifier || press.key.length !== 1) return { pending: "", found: undefined };
  for (const keys of pending ? [`${pending} ${press.key}`, press.key] : [press.key]) {
    const found = shortcuts.findLast((each) => each.keys === keys);
    if (found) return { pending: "", found };
    if (shortcuts.some((each) => each.keys.startsWith(`${keys} `)))
      return { pending: keys, found: undefined };
  }
  return { pending: "", found: undefined };
}

/** The row to go to from one of so many: `j` and `k` stay within them. */
export function neighbour(current: number, by: 1 | -1, count: number): number {
  if (count === 0) return -1;
  if (current < 0) return by > 0 ? 0 : count - 1;
  return Math.min(count - 1, Math.max(0, current + by));
}

const FIELDS = new Set(["INPUT", "TEXTAREA", "SELECT"]);
const BUTTONS = new Set(["checkbox", "radio", "button", "submit", "range"]);

/** Whether letters go into what has the focus. */
export function isTypedInto(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement && BUTTONS.has(target.type)) return false;
  return FIELDS.has(target.tagName) || target.isContentEditable || target.closest("[role=dialog]") !== null;
}
