import { LogText } from "./LogText";
import type { LogLine } from "./pages";

interface Props {
  line: LogLine;
  wanted: string;
  withTime: boolean;
  withNode: boolean;
}

/** One line, with when and by whom it was written. */
export function LogRow({ line, wanted, withTime, withNode }: Props) {
  return (
    <>
      {withTime && (
        <time className="tw-line-time" dateTime={line.time} title={line.time}>
          {clock(line.time)}
        </time>
      )}
      {withNode && (
        <span
          className="tw-line-node"
          title={`${line.node}, container ${line.container}, attempt ${line.attempt + 1}`}
        >
          {line.node}
        </span>
      )}
      {line.stream === "stderr" && (
        <abbr className="tw-line-stream" title="standard error">
          err
        </abbr>
      )}
      <LogText line={line} wanted={wanted} />
    </>
  );
}

/** The time of day in the reader's own zone, with tenths of a second. */
function clock(time: string): string {
  const moment = new Date(time);
  if (Number.isNaN(moment.getTime())) return "";
  const two = (number: number) => String(number).padStart(2, "0");
  const tenths = Math.floor(moment.getMilliseconds() / 100);
  return `${two(moment.getHours())}:${two(moment.getMinutes())}:${two(moment.getSeconds())}.${tenths}`;
}
