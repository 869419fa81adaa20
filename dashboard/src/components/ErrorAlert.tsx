import { Alert, AlertActionLink } from "@patternfly/react-core/dist/dynamic/components/Alert";
import { ApiError, isLoggedOut } from "../data/errors";
import { loginAddress } from "../data/session";
import { Hint } from "./Hint";

interface Props {
  error: unknown;
  /** What was tried: "The jobs could not be read". */
  title?: string;
  onRetry?: () => void;
}

/** An error with all that the server says of it: message, field, hint, and every reason. */
export function ErrorAlert({ error, title = "That did not work", onRetry }: Props) {
  const message = error instanceof Error ? error.message : String(error);
  const found = error instanceof ApiError ? error : null;
  const actions = (
    <>
      {isLoggedOut(error) && (
        <AlertActionLink component="a" href={loginAddress()}>
          Log in
        </AlertActionLink>
      )}
      {onRetry && !isLoggedOut(error) && <AlertActionLink onClick={onRetry}>Try again</AlertActionLink>}
    </>
  );
  return (
    <Alert variant="danger" isInline title={title} component="h2" actionLinks={actions}>
      <p className="tw-break">
        {found?.field && <code>{found.field}: </code>}
        {message}
      </p>
      {found && found.reasons.length > 1 && (
        <ul>
          {found.reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
      {found?.hint && (
        <p>
          <Hint text={found.hint} />
        </p>
      )}
    </Alert>
  );
}
