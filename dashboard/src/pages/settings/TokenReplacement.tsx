import { Alert } from "@patternfly/react-core/dist/dynamic/components/Alert";
import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { ErrorAlert } from "../../components/ErrorAlert";
import { serverQuery } from "../../data/queries";
import { loginAddress } from "../../data/session";
import { replaceToken } from "../../data/settings";

/** The token that everybody needs who comes over the network; it is never shown here. */
export function TokenReplacement() {
  const { data: server } = useQuery(serverQuery);
  const [isAsked, setAsked] = useState(false);
  const replacing = useMutation({ mutationFn: replaceToken, onSettled: () => setAsked(false) });
  if (replacing.isSuccess) {
    return (
      <Alert isInline variant="success" title="The server has another token, and everybody is logged out">
        <p>
          <code>trainway server token show</code> prints it on the machine of the server. Then{" "}
          <a href={loginAddress()}>log in again</a>.
        </p>
      </Alert>
    );
  }
  return (
    <div className="tw-list">
      <p>
        Programs and browsers on other machines log in with it. On the machine of the server,{" "}
        <code>trainway server token show</code> prints it.
      </p>
      {server?.token.given ? (
        <p>
          The server was started with the token in <code className="tw-break">{server.token.file}</code>.
          Write another one into that file to replace it; the server takes it up at once.
        </p>
      ) : (
        <div>
          <Button variant="secondary" isDisabled={replacing.isPending} onClick={() => setAsked(true)}>
            Replace the token…
          </Button>
        </div>
      )}
      {replacing.error && <ErrorAlert error={replacing.error} title="The token was not replaced" />}
      {isAsked && (
        <ConfirmDialog
          title="Replace the token of the server?"
          button="Replace it"
          isPending={replacing.isPending}
          onConfirm={() => replacing.mutate()}
          onClose={() => setAsked(false)}
        >
          <p>
            Every browser is logged out, this one too, and every program that uses the token is cut off until
            it has the new one. Jobs go on.
          </p>
          <p>
            To log in again, you need <code>trainway dashboard</code> or{" "}
            <code>trainway server token show</code> on the machine of the server.
          </p>
        </ConfirmDialog>
      )}
    </div>
  );
}
