import { useRef } from "react";

interface Props {
  text: string;
  /** The lines in which something is wrong, from 1 on. */
  marked: ReadonlySet<number>;
  onWrite: (text: string) => void;
}

/** A text with line numbers. */
export function YamlEditor({ text, marked, onWrite }: Props) {
  const gutter = useRef<HTMLDivElement>(null);
  const lines = text.split("\n").length;
  return (
    <div className="tw-editor">
      <div className="tw-editor-gutter" ref={gutter} aria-hidden="true">
        {Array.from({ length: lines }, (_, index) => (
          <div key={index} className={marked.has(index + 1) ? "tw-editor-wrong" : ""}>
            {marked.has(index + 1) ? `✗ ${index + 1}` : index + 1}
          </div>
        ))}
      </div>
      <textarea
        id="draft-text"
        className="tw-editor-text"
        aria-label="The job as YAML"
        value={text}
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
        wrap="off"
        onChange={(event) => onWrite(event.target.value)}
        onScroll={(event) => {
          if (gutter.current) gutter.current.scrollTop = event.currentTarget.scrollTop;
        }}
      />
    </div>
  );
}

/** Puts the cursor into a line of the editor. */
export function goToLine(line: number, column: number): void {
  const editor = document.getElementById("draft-text");
  if (!(editor instanceof HTMLTextAreaElement)) return;
  const start = editor.value
    .split("\n")
    .slice(0, line - 1)
    .join("\n").length;
  const at = Math.min(start + (line > 1 ? 1 : 0) + Math.max(column - 1, 0), editor.value.length);
  editor.focus();
  editor.setSelectionRange(at, at);
}
