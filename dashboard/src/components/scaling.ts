/** How many nodes a job has, and is to have. Pure. */

export const MOST_NODES = 10_000;

/** The nodes that scaling is about: not those that launch the others or fetch something before. */
export function nodesNow(nodes: readonly Record<string, unknown>[]): number {
  return nodes.filter(({ role }) => !/^launcher$|-initializer$/.test(String(role))).length;
}

/** The number that somebody has written; null: a job cannot have so many nodes. */
export function wantedNodes(text: string): number | null {
  const number = /^\d{1,5}$/.test(text.trim()) ? Number(text) : 0;
  return number >= 1 && number <= MOST_NODES ? number : null;
}
