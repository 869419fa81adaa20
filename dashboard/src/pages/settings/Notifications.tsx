import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { useMutation, useQuery } from "@tanstack/react-query";
import { DataTable } from "../../components/DataTable";
import { ErrorAlert } from "../../components/ErrorAlert";
import { Loading } from "../../components/Loading";
import { notifyQuery, sendTest } from "../../data/settings";

const EXAMPLE = `notify:
  team:
    url: https://hooks.slack.com/services/…
    events: [failed, recovered]`;

/** Who is told how jobs go; their URLs are secrets, and the server shows them to nobody. */
export function Notifications() {
  const { data, error, refetch } = useQuery(notifyQuery);
  const test = useMutation({ mutationFn: sendTest });
  const result = (name: string) => test.data?.find(({ target }) => target === name);
  return (
    <>
      {error && (
        <ErrorAlert error={error} title="The targets could not be read" onRetry={() => void refetch()} />
      )}
      {!data && !error && <Loading what="the targets" />}
      {data?.length === 0 && <p>No notifications are configured.</p>}
      {data && data.length > 0 && (
        <DataTable
          label="Targets"
          columns={["Name", "Format", "Hears of", "Test"]}
          rows={data.map(({ name, format, events }) => [
            name,
            name,
            format,
            events.join(", "),
            <div key="test" className="tw-chips">
              <Button
                variant="secondary"
                size="sm"
                isDisabled={test.isPending}
                isLoading={test.isPending && test.variables === name}
                onClick={() => test.mutate(name)}
              >
                Send a test
              </Button>
              <span role="status" className="tw-break">
                {outcome(result(name))}
              </span>
            </div>,
          ])}
        />
      )}
      {test.error && <ErrorAlert error={test.error} title="The test could not be sent" />}
      <details>
        <summary>How to add a target</summary>
        <p>
          Write it into <code>config.yaml</code> in the home directory of the server, which takes it up at
          once:
        </p>
        <pre>{EXAMPLE}</pre>
        <p>
          For one job alone: <code>trainway run --notify team train.yaml</code>
        </p>
      </details>
    </>
  );
}

function outcome(result: { ok: boolean; detail: string } | undefined): string {
  if (!result) return "";
  return result.ok ? "It arrived." : `It did not arrive: ${result.detail}`;
}
