/** What people do with a cache. Pure. */

/** The line of Python that reads a cache; empty: nobody here knows where it is. */
export function usage(cache: { address: string }): string {
  return cache.address ? `TableDataset("${cache.address}")` : "";
}
