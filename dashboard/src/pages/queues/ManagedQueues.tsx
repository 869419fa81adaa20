import { Title } from "@patternfly/react-core/dist/dynamic/components/Title";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Bar } from "../../components/Bar";
import { DataTable } from "../../components/DataTable";
import { ErrorAlert } from "../../components/ErrorAlert";
import { managedQueuesQuery, type ManagedQueue } from "../../data/managedQueues";
import { barsOf } from "./managedQueue";
import { QueueState } from "./QueueState";

const COLUMNS = ["Queue", "State", "Running", "Waiting", "Quota"];

/** The queues of this server, with how much of their quotas is used. */
export function ManagedQueues() {
  const { data, error, refetch } = useQuery(managedQueuesQuery);
  return (
    <section>
      <Title headingLevel="h2" size="md" className="tw-section">
        Queues of this server
      </Title>
      {error && (
        <ErrorAlert
          error={error}
          title="The queues of this server could not be read"
          onRetry={() => void refetch()}
        />
      )}
      {data && (
        <DataTable label="Queues of this server" columns={COLUMNS} numbers={[2, 3]} rows={data.map(row)} />
      )}
      {data?.length === 1 && (
        <p>
          Create more queues, with quotas and rules, with <code>trainway queues apply -f FILE.yaml</code>.
        </p>
      )}
    </section>
  );
}

function row(queue: ManagedQueue): readonly [string, ...React.ReactNode[]] {
  const { metadata, status } = queue;
  const bars = barsOf(queue);
  return [
    metadata.name,
    <Link key="name" to="/queues/$queue" params={{ queue: metadata.name }} className="tw-link">
      {metadata.name}
    </Link>,
    <QueueState key="state" state={status.state} />,
    status.running,
    status.waiting,
    bars.length > 0
      ? bars.map((bar) => <Bar key={bar.name} part={bar.used} whole={bar.quota} label={bar.label} />)
      : "no limit",
  ];
}
