import { Title } from "@patternfly/react-core/dist/dynamic/components/Title";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { Bar } from "../../components/Bar";
import { DataTable } from "../../components/DataTable";
import { ErrorAlert } from "../../components/ErrorAlert";
import { FactList } from "../../components/FactList";
import { JobLink } from "../../components/JobLink";
import { Loading } from "../../components/Loading";
import { Moment } from "../../components/Moment";
import { PageFrame } from "../../components/PageFrame";
import { managedQueueQuery, type QueuedJob } from "../../data/managedQueues";
import { barsOf, rulesOf } from "./managedQueue";
import { QueueActions } from "./QueueActions";
import { QueueState } from "./QueueState";
import "./queues.css";

const COLUMNS = ["Job", "Place", "Priority", "User", "Runs on", "Submitted", "Why it waits"];

/** One queue of this server: its quotas, and who waits in it with the exact reason. */
export default function QueuePage() {
  const { queue: name } = useParams({ from: "/queues/$queue" });
  const { data: queue, error, refetch } = useQuery(managedQueueQuery(name));
  if (!queue) {
    return (
      <PageFrame title={name}>
        {error ? (
          <ErrorAlert error={error} title="The queue could not be read" onRetry={() => void refetch()} />
        ) : (
          <Loading what="the queue" />
        )}
      </PageFrame>
    );
  }
  const { state, running, waiting, jobs = [] } = queue.status;
  return (
    <PageFrame
      title={name}
      beside={<QueueState state={state} />}
      actions={<QueueActions name={name} state={state} isMade={queue.metadata.creationTimestamp !== null} />}
    >
      {error && <ErrorAlert error={error} title="What is shown may be old" />}
      <FactList
        facts={[
          ["Running", running.toLocaleString("en")],
          ["Waiting", waiting.toLocaleString("en")],
          ...rulesOf(queue),
        ]}
      />
      {barsOf(queue).map((bar) => (
        <Bar key={bar.name} part={bar.used} whole={bar.quota} label={bar.label} />
      ))}
      <Title headingLevel="h2" size="md" className="tw-section">
        Jobs that wait
      </Title>
      {jobs.length > 0 ? (
        <DataTable
          label="Jobs that wait"
          columns={COLUMNS}
          numbers={[1, 2]}
          sentences={[6]}
          rows={jobs.map(row)}
        />
      ) : (
        <p>No job waits here.</p>
      )}
      {jobs.length > 0 && jobs.length < waiting && (
        <p className="tw-subtle">
          The first {jobs.length.toLocaleString("en")} of {waiting.toLocaleString("en")} are shown.
        </p>
      )}
    </PageFrame>
  );
}

function row(job: QueuedJob): readonly [string, ...React.ReactNode[]] {
  return [
    job.id,
    <JobLink key="job" id={job.id}>
      {job.name}
    </JobLink>,
    job.position ?? "–",
    job.priority,
    job.user || "–",
    job.backend,
    <Moment key="submitted" time={job.creationTimestamp} />,
    job.message,
  ];
}
