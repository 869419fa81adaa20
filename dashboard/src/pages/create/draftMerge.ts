/**
 * What a change of the form means for the text: the fields that differ between two manifests are set in the
 * text, and everything else in it stays as somebody wrote it, comments included. Pure.
 */
import { isMap, isSeq, parseAllDocuments, parseDocument, stringify, type Document } from "yaml";

export type Json = Record<string, unknown>;
/** A field, an index, or the item of a list that has that name. */
export type Step = string | number | { name: string };
export interface Change {
  path: readonly Step[];
  /** Undefined: it is removed. */
  value: unknown;
}

const STYLE = { lineWidth: 0, blockQuote: "literal" } as const;

/** Documents as text. */
export function textOf(documents: readonly unknown[]): string {
  return documents.map((document) => stringify(document, STYLE)).join("---\n");
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function named(list: readonly unknown[]): boolean {
  return list.length > 0 && list.every((item) => isObject(item) && typeof item["name"] === "string");
}

/** What must be done to the first for it to become the second. */
export function changes(before: unknown, after: unknown, path: readonly Step[] = []): Change[] {
  if (Object.is(before, after)) return [];
  if (isObject(before) && isObject(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) => changes(before[key], after[key], [...path, key]));
  }
  const [old, now] = [before ?? [], after ?? []];
  if (Array.isArray(old) && Array.isArray(now)) {
    if (JSON.stringify(old) === JSON.stringify(now)) return [];
    if (named([...old, ...now] as unknown[])) return changesByName(old as Json[], now as Json[], path);
  }
  return [{ path, value: after }];
}

function changesByName(before: readonly Json[], after: readonly Json[], path: readonly Step[]): Change[] {
  const names = new Set([...before, ...after].map((item) => String(item["name"])));
  return [...names].flatMap((name) => {
    const [old, now] = [before, after].map((list) => list.find((item) => item["name"] === name));
    const here = [...path, { name }];
    return old && now ? changes(old, now, here) : [{ path: here, value: now }];
  });
}

/** The text after a change of the form from one manifest to another; null: the text cannot be read. */
export function merged(text: string, before: Json, after: Json): string | null {
  if (parseAllDocuments(text).length !== 1) return null;
  const document = parseDocument(text);
  if (document.errors.length > 0 || !isMap(document.contents)) return null;
  for (const { path, value } of changes(before, after)) apply(document, path, value);
  return document.toString(STYLE);
}

function apply(document: Document, path: readonly Step[], value: unknown): void {
  const steps: (string | number)[] = [];
  for (const [index, step] of path.entries()) {
    if (typeof step !== "object") {
      steps.push(step);
      continue;
    }
    const list = document.getIn(steps, true);
    if (!isSeq(list)) {
      const item = index === path.length - 1 ? value : { name: step.name };
      if (value !== undefined) document.setIn(steps, document.createNode([item]));
      if (index === path.length - 1 || value === undefined) return;
      steps.push(0);
      continue;
    }
    const found = list.items.findIndex((item) => isMap(item) && item.get("name") === step.name);
    if (found === -1 && value === undefined) return;
    if (found === -1) list.add(document.createNode({ name: step.name }));
    steps.push(found === -1 ? list.items.length - 1 : found);
  }
  if (value === undefined) remove(document, steps);
  else document.setIn(steps, typeof value === "object" ? document.createNode(value) : value);
}

/** Removes a field, and what is left empty around it. */
function remove(document: Document, steps: readonly (string | number)[]): void {
  if (!document.hasIn(steps)) return;
  document.deleteIn(steps);
  const around = steps.slice(0, -1);
  const left = document.getIn(around, true);
  if (around.length > 0 && (isMap(left) || isSeq(left)) && left.items.length === 0) remove(document, around);
}
