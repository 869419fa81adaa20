const GAP_REM = 0.75;

/** What a row of columns needs at least, so that all rows are as wide, whatever is in them. */
export function leastWidth(widths: readonly string[]): string {
  const least = widths.map((width) => Number.parseFloat(width.replace("minmax(", "")));
  return `${least.reduce((sum, width) => sum + width + GAP_REM, GAP_REM)}rem`;
}
