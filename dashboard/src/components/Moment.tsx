import { ago } from "./format";
import { useNow } from "./useNow";

const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: "short", timeStyle: "medium" });

/** How long ago something was, with its exact time as a tooltip. */
export function Moment({ time }: { time: string | null | undefined }) {
  const now = useNow();
  if (!time) return <>–</>;
  return (
    <time dateTime={time} title={exact(time)}>
      {ago(time, now)}
    </time>
  );
}

function exact(time: string): string {
  const moment = new Date(time);
  return Number.isNaN(moment.getTime()) ? time : EXACT.format(moment);
}
