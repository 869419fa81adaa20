/** A line through numbers as the path of an SVG picture. Pure. */

export function sparkPath(values: readonly number[], width: number, height: number, top?: number): string {
  const known = values.filter(Number.isFinite);
  if (known.length === 0) return "";
  const highest = Math.max(top ?? 0, ...known, Number.MIN_VALUE);
  const stride = known.length > 1 ? width / (known.length - 1) : 0;
  const points = known.map((value, index) => {
    const y = height - (Math.max(0, value) / highest) * height;
    return `${round(index * stride)} ${round(y)}`;
  });
  if (points.length === 1) points.push(`${width} ${points[0]?.split(" ")[1] ?? height}`);
  return `M${points.join("L")}`;
}

function round(number: number): number {
  return Math.round(number * 10) / 10;
}
