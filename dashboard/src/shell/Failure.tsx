import { ErrorAlert } from "../components/ErrorAlert";
import { PageFrame } from "../components/PageFrame";
import { isLoggedOut } from "../data/errors";
import { LoginNotice } from "./LoginNotice";

/** Instead of a page that could not be shown. */
export function Failure({ error, reset }: { error: unknown; reset: () => void }) {
  if (isLoggedOut(error)) return <LoginNotice />;
  return (
    <PageFrame title="This page failed">
      <ErrorAlert error={error} title="The page could not be shown" onRetry={reset} />
    </PageFrame>
  );
}
