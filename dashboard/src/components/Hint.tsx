import { Fragment } from "react";

/** What to do about an error, as the server words it: a whole sentence, with what is to be typed as code. */
export function Hint({ text }: { text: string }) {
  const parts = text.split("`");
  const isPaired = parts.length % 2 === 1;
  return (
    <span className="tw-break">
      {isPaired
        ? parts.map((part, index) =>
            index % 2 === 1 ? (
              <code key={index}>{part}</code>
            ) : (
              <Fragment key={index}>{begun(part, index)}</Fragment>
            ),
          )
        : begun(text, 0)}
    </span>
  );
}

const COMMAND = /^trainway\b/;

/** The first part of a sentence begins with a capital letter, but for a command, which would be another one then. */
function begun(part: string, index: number): string {
  return index === 0 && !COMMAND.test(part) ? part.charAt(0).toUpperCase() + part.slice(1) : part;
}
