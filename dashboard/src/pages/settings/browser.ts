/** What a browser calls itself, in words. Pure. */

const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bFirefox\//, "Firefox"],
  [/\b(?:Headless)?Chrom(?:e|ium)\//, "Chrome"],
  [/\bVersion\/[\d.]+ .*Safari\//, "Safari"],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\bAndroid\b/, "Android"],
  [/\b(?:iPhone|iPad)\b/, "iOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bLinux\b/, "Linux"],
];

/** `Firefox on Linux`, or what it says where nobody knows better. */
export function browserName(agent: string): string {
  const found = (names: typeof BROWSERS) => names.find(([pattern]) => pattern.test(agent))?.[1];
  const browser = found(BROWSERS);
  const system = found(SYSTEMS);
  if (!browser) return agent || "an unknown browser";
  return system ? `${browser} on ${system}` : browser;
}

/** Where it is, as far as its address says. */
export function placeName(address: string): string {
  if (!address) return "unknown";
  return /^(127\.|::1$)/.test(address) ? "the server’s machine" : address;
}
