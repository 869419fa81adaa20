import { ago } from "./format";
import { useNow } from "./useNow";

/** How long ago something was, with its exact time as a tooltip. */
export function Moment({ time }: { time: string | null | undefined }) {
  const now = useNow();
  if (!time) return <>–</>;
  return (
    <time dateTime={time} title={new Date(time).toLocaleString()}>
      {ago(time, now)}
    </time>
  );
}
