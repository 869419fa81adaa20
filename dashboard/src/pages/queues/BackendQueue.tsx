import { Alert } from "@patternfly/react-core/dist/dynamic/components/Alert";
import { Card, CardBody, CardTitle } from "@patternfly/react-core/dist/dynamic/components/Card";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Bar } from "../../components/Bar";
import { DataTable } from "../../components/DataTable";
import { ErrorAlert } from "../../components/ErrorAlert";
import { count, figure } from "../../components/format";
import { JobLink } from "../../components/JobLink";
import { Moment } from "../../components/Moment";
import { PhaseLabel } from "../../components/PhaseLabel";
import { backendQueuesQuery, type JobQueue } from "../../data/infra";
import { QueueSection } from "./QueueSection";
import { Hint } from "../../components/Hint";

const COLUMNS = ["Job", "Position", "Phase", "Priority", "Since", "Why it waits"] as const;

/** The jobs of this server that wait on a backend, and the queues that the backend has itself. */
export function BackendQueue({ queue }: { queue: JobQueue }) {
  const { data, error } = useQuery(backendQueuesQuery(queue.name));
  return (
    <Card isCompact component="section">
      <CardTitle component="h2" className="tw-break">
        {queue.name}
      </CardTitle>
      <CardBody>
        <p>
          <Link to="/jobs" search={{ backend: queue.name, phase: "active" }} className="tw-link">
            {count(queue.running, "job")} running, {queue.waiting} waiting
          </Link>
        </p>
        <Totals queue={queue} />
        <OwnJobs queue={queue} />
        {!data && !error && <p className="tw-subtle">Asking the backend for its own queues …</p>}
        {error && <ErrorAlert error={error} title={`The queues of ${queue.name} could not be read`} />}
        {data?.problem && (
          <Alert variant="warning" isInline component="h3" title="It cannot be asked for its queues">
            <p className="tw-break">{data.problem}</p>
            {data.hint && (
              <p>
                <Hint text={data.hint} />
              </p>
            )}
          </Alert>
        )}
        {data?.tells && !data.problem && data.queues.length === 0 && (
          <p className="tw-subtle">It has no queues of its own.</p>
        )}
        {data?.queues.map((each) => (
          <QueueSection key={`${each.namespace}/${each.name}`} queue={each} />
        ))}
      </CardBody>
    </Card>
  );
}

function Totals({ queue }: { queue: JobQueue }) {
  return (
    <div className="tw-bars">
      {queue.totalCpus !== null && queue.totalCpus > 0 && (
        <Bar
          part={queue.cpus}
          whole={queue.totalCpus}
          label={`${figure(queue.cpus)} of ${count(queue.totalCpus, "CPU")} requested by running jobs`}
        />
      )}
      {queue.totalGpus !== null && queue.totalGpus > 0 && (
        <Bar
          part={queue.gpus}
          whole={queue.totalGpus}
          label={`${queue.gpus} of ${count(queue.totalGpus, "GPU")} requested by running jobs`}
        />
      )}
    </div>
  );
}

function OwnJobs({ queue }: { queue: JobQueue }) {
  if (queue.waiting === 0) return <p className="tw-subtle">No job of this server waits here.</p>;
  return (
    <>
      <DataTable
        label={`Jobs that wait on ${queue.name}`}
        columns={COLUMNS}
        numbers={[1, 3]}
        sentences={[5]}
        rows={queue.jobs.map(
          (job) =>
            [
              job.metadata.id,
              <JobLink key="job" id={job.metadata.id}>
                {job.metadata.name}
              </JobLink>,
              job.status.queuePosition ?? "–",
              <PhaseLabel key="phase" phase={job.status.phase} />,
              job.spec.priority,
              <Moment key="since" time={job.metadata.creationTimestamp} />,
              job.status.message || "The queue has not said why yet.",
            ] as const,
        )}
      />
      {queue.jobs.length < queue.waiting && (
        <p className="tw-subtle">
          The first {queue.jobs.length} of {queue.waiting.toLocaleString("en")} are shown.
        </p>
      )}
    </>
  );
}
