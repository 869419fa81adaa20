import { expect, test } from "vitest";
import { arrived } from "./arrival";

class Sheet extends EventTarget {
  sheet: object | null = null;
}

function page(readyState: string, ...styles: Sheet[]): Document & EventTarget {
  const document = new EventTarget();
  return Object.assign(document, { readyState, querySelectorAll: () => styles }) as unknown as Document;
}

async function isSettled(promise: Promise<void>): Promise<boolean> {
  const turn = new Promise((resolve) => setTimeout(resolve)).then(() => false);
  return Promise.race([promise.then(() => true), turn]);
}

test("a document that is whole is drawn at once", async () => {
  const there = new Sheet();
  there.sheet = {};
  expect(await isSettled(arrived(page("interactive", there)))).toBe(true);
});

test("what is still being read is waited for", async () => {
  const document = page("loading");
  const waiting = arrived(document);
  expect(await isSettled(waiting)).toBe(false);
  document.dispatchEvent(new Event("DOMContentLoaded"));
  await waiting;
});

test.each(["load", "error"])("styles that are on their way are waited for: %s", async (type) => {
  const [first, second] = [new Sheet(), new Sheet()];
  const waiting = arrived(page("complete", first, second));
  first.dispatchEvent(new Event("load"));
  expect(await isSettled(waiting)).toBe(false);
  second.dispatchEvent(new Event(type));
  await waiting;
});
