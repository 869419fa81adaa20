/** Which offers somebody looks at, as the address says it. Pure. */

interface Accelerator {
  name: string;
  counts: readonly number[];
}

/** The accelerators whose name has a text in it, whatever its case. */
export function matching<T extends Accelerator>(found: readonly T[], text: string): T[] {
  const wanted = text.trim().toLowerCase();
  return found.filter((each) => each.name.toLowerCase().includes(wanted));
}

/** A count in the address; 0: any. */
export function countOf(text: string): number {
  const number = Number(text);
  return Number.isFinite(number) && number > 0 ? number : 0;
}
