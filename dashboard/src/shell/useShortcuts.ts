import { useEffect, useRef } from "react";
import { isTypedInto, neighbour, step, type Shortcut } from "./keyboard";

/** The shortcuts of all that is on the page now, what was added last at the end. */
const active: Shortcut[][] = [];
let pending = "";
let since = 0;
const FORGOTTEN_AFTER = 1_500;

export function activeShortcuts(): Shortcut[] {
  return active.flat();
}

function pressed(event: KeyboardEvent): void {
  if (event.defaultPrevented) return;
  if (event.key === "Escape") leaveSearch(event.target);
  if (event.timeStamp - since > FORGOTTEN_AFTER) pending = "";
  since = event.timeStamp;
  const next = step(activeShortcuts(), pending, {
    key: event.key,
    hasModifier: event.ctrlKey || event.metaKey || event.altKey,
    isTyping: isTypedInto(event.target),
  });
  pending = next.pending;
  if (!next.found) return;
  event.preventDefault();
  next.found.run();
}

/** Have keys do something while the component is there. */
export function useShortcuts(shortcuts: Shortcut[]): void {
  const newest = useRef(shortcuts);
  useEffect(() => {
    newest.current = shortcuts;
  });
  const names = shortcuts.map((each) => each.keys).join();
  useEffect(() => {
    const mine = newest.current.map((each, index) => ({
      ...each,
      run: () => newest.current[index]?.run(),
    }));
    if (active.length === 0) window.addEventListener("keydown", pressed);
    active.push(mine);
    return () => {
      active.splice(active.indexOf(mine), 1);
      if (active.length === 0) window.removeEventListener("keydown", pressed);
    };
  }, [names]);
}

/** `j` and `k` in any list: of each element with `data-row` the first link gets the focus, one row after the other. */
export function focusRow(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>("[data-row]")].flatMap(firstLink);
  const here = document.activeElement?.closest("[data-row]");
  const next = links[neighbour(here ? links.findIndex((link) => here.contains(link)) : -1, by, links.length)];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

function firstLink(row: HTMLElement): HTMLElement[] {
  const link = row.matches("a") ? row : row.querySelector<HTMLElement>("a[href]");
  return link ? [link] : [];
}

/** Escape: out of the field again, so that letters are keys. */
function leaveSearch(target: EventTarget | null): void {
  if (target instanceof HTMLElement && target.closest("[data-search]")) target.blur();
}

/** `/`: into the field with `data-search`. */
export function focusSearch(): void {
  const field = document.querySelector<HTMLInputElement>("[data-search] input, input[data-search]");
  field?.focus();
  field?.select();
}
