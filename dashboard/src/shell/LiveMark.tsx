import { Label } from "@patternfly/react-core/dist/dynamic/components/Label";
import { useEffect, useState } from "react";
import { useLive } from "../data/useLive";

const PATIENCE = 3_000;

/** Says when the page does not hear of changes any more, and nothing as long as it does. */
export function LiveMark() {
  const state = useLive();
  return state === "lost" ? <Lost /> : null;
}

function Lost() {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), PATIENCE);
    return () => clearTimeout(timer);
  }, []);
  if (!isShown) return null;
  return (
    <Label isCompact color="orange" title="The server does not answer. The page goes on as soon as it does.">
      Reconnecting
    </Label>
  );
}
