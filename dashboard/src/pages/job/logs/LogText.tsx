import { marked, spansOf } from "./ansi";
import type { LogLine } from "./pages";

interface Props {
  line: Pick<LogLine, "text" | "omitted" | "partial">;
  /** What was searched for. */
  wanted?: string;
}

/** The text of a line: colours as a terminal shows them, and nothing but text. */
export function LogText({ line, wanted = "" }: Props) {
  return (
    <>
      {marked(spansOf(line.text), wanted).map((span, index) =>
        span.classes ? (
          <span key={index} className={span.classes}>
            {span.text}
          </span>
        ) : (
          span.text
        ),
      )}
      {(line.omitted ?? 0) > 0 && <span className="tw-subtle"> … {line.omitted} more bytes</span>}
    </>
  );
}
