import { Label } from "@patternfly/react-core/dist/dynamic/components/Label";
import { useLocation } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { loginAddress } from "../data/session";
import { useLive } from "../data/useLive";

const PATIENCE = 3_000;

/** Says when the page does not hear of changes any more, and nothing as long as it does. */
export function LiveMark() {
  const state = useLive();
  if (state === "out") return <LoggedOut />;
  return state === "lost" ? <Lost /> : null;
}

/** The way to log in again, back to the page that is open. */
function LoggedOut() {
  useLocation(); // another page is another way back
  return (
    <Label isCompact color="orange" href={loginAddress()} title="You are not logged in any more.">
      Log in again
    </Label>
  );
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
