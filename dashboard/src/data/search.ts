/** The part of an address after `?`, as plain texts: what a page shows, so that a link shows the same. */

export type Search = Record<string, string | string[] | undefined>;

/** A name that stands there twice has several values. */
export function parseSearch(text: string): Search {
  const search: Search = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const former = search[name];
    search[name] = former === undefined ? value : [former, value].flat();
  }
  return search;
}

export function searchText(search: Record<string, unknown>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (each !== undefined && each !== null && each !== "") params.append(name, String(each));
    }
  }
  return params.size > 0 ? `?${params}` : "";
}

/** All values of a name. */
export function values(search: Search, name: string): string[] {
  return [search[name] ?? []].flat();
}

/** The value of a name; the last one, where there are several. */
export function value(search: Search, name: string): string {
  return values(search, name).at(-1) ?? "";
}
