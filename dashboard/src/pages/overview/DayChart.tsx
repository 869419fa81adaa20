import { useNow } from "../../components/useNow";
import { HOURS, lastDay, sumOf, type HourCounts } from "./day";

const ENDS = [
  ["Succeeded", "tw-good"],
  ["Failed", "tw-bad"],
  ["Cancelled", "tw-neutral"],
] as const;
const WIDTH = 10;
const HEIGHT = 60;

/** How many jobs ended in each hour, and how. The sums below say the same without the picture. */
export function DayChart({ hours }: { hours: HourCounts[] }) {
  const day = lastDay(hours, useNow());
  const most = Math.max(
    1,
    ...day.map(({ counts }) => ENDS.reduce((sum, [name]) => sum + (counts[name] ?? 0), 0)),
  );
  const sums = [
    ["Submitted", sumOf(day, "submitted")] as const,
    ...ENDS.map(([name]) => [name, sumOf(day, name)] as const),
  ];
  return (
    <>
      <svg
        viewBox={`0 0 ${HOURS * WIDTH} ${HEIGHT}`}
        className="tw-day"
        aria-hidden
        preserveAspectRatio="none"
      >
        {day.map(({ hour, counts }, index) => {
          let top = HEIGHT;
          return ENDS.map(([name, look]) => {
            const height = ((counts[name] ?? 0) / most) * (HEIGHT - 2);
            top -= height;
            return (
              <rect
                key={`${hour} ${name}`}
                x={index * WIDTH + 1}
                y={top}
                width={WIDTH - 2}
                height={height}
                className={look}
              >
                <title>{`${new Date(hour).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })}: ${counts[name] ?? 0} ${name}`}</title>
              </rect>
            );
          });
        })}
      </svg>
      <div className="tw-chips">
        {sums.map(([name, sum]) => (
          <span key={name}>
            {name}: <strong>{sum.toLocaleString("en")}</strong>
          </span>
        ))}
      </div>
    </>
  );
}
