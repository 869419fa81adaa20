import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { DataTable } from "../../components/DataTable";
import { ErrorAlert } from "../../components/ErrorAlert";
import { count } from "../../components/format";
import { Loading } from "../../components/Loading";
import { Moment } from "../../components/Moment";
import { loginAddress, logOut } from "../../data/session";
import { endOtherSessions, endSession, sessionsQuery, type BrowserSession } from "../../data/settings";
import { browserName, placeName } from "./browser";

const COLUMNS = ["Browser", "Logged in", "From", "Last seen", "Ends", "Action"];

/** Who is logged in to the dashboard, and logging them out. */
export function Sessions() {
  const { data, error, refetch } = useQuery(sessionsQuery);
  const [isAsked, setAsked] = useState(false);
  const queryClient = useQueryClient();
  const ending = useMutation({
    mutationFn: (end: () => Promise<unknown>) => end(),
    onSettled: () => {
      setAsked(false);
      return queryClient.invalidateQueries(sessionsQuery);
    },
  });
  const leaving = useMutation({
    mutationFn: logOut,
    onSuccess: () => window.location.assign(loginAddress()),
  });
  const mine = data?.find(({ current }) => current);
  const others = data?.filter(({ current }) => !current) ?? [];
  const row = (session: BrowserSession) =>
    [
      session.id,
      <span key="browser" title={session.agent}>
        {browserName(session.agent)}
        {session.current && <strong> (this one)</strong>}
      </span>,
      <Moment key="began" time={session.began} />,
      placeName(session.address),
      session.current ? "now" : <Moment key="seen" time={session.seen} />,
      <Moment key="ends" time={session.expires} />,
      <Button
        key="end"
        variant="secondary"
        size="sm"
        isDisabled={ending.isPending || leaving.isPending}
        onClick={() => (session.current ? leaving.mutate() : ending.mutate(() => endSession(session.id)))}
      >
        Log out
      </Button>,
    ] as const;
  return (
    <>
      {error && (
        <ErrorAlert error={error} title="The sessions could not be read" onRetry={() => void refetch()} />
      )}
      {!data && !error && <Loading what="the sessions" />}
      {data && <DataTable label="Browsers that are logged in" columns={COLUMNS} rows={data.map(row)} />}
      {others.length > 0 && (
        <Button variant="link" onClick={() => setAsked(true)}>
          Log out {count(others.length, "other browser")}
        </Button>
      )}
      {(ending.error ?? leaving.error) && <ErrorAlert error={ending.error ?? leaving.error} />}
      {isAsked && (
        <ConfirmDialog
          title={`Log out ${count(others.length, "other browser")}?`}
          button="Log them out"
          isPending={ending.isPending}
          onConfirm={() => ending.mutate(() => endOtherSessions(mine?.id ?? ""))}
          onClose={() => setAsked(false)}
        >
          Links to the dashboard that nobody has opened yet end, too. Jobs go on.
        </ConfirmDialog>
      )}
    </>
  );
}
