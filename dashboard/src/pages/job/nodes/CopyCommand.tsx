import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { useState } from "react";

/** A command for a terminal: a page has no shell, so it gives what opens one. */
export function CopyCommand({ command, isDisabled }: { command: string; isDisabled: boolean }) {
  const [said, setSaid] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(command);
      setSaid("Copied");
    } catch {
      setSaid(command); // a browser that gives no clipboard
    }
  };
  return (
    <>
      <Button variant="link" isInline isDisabled={isDisabled} title={command} onClick={() => void copy()}>
        Copy command
      </Button>{" "}
      <span role="status">{said === command ? <code>{command}</code> : said}</span>
    </>
  );
}
