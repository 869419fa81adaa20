import { Title } from "@patternfly/react-core/dist/dynamic/components/Title";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { DataTable } from "../../components/DataTable";
import { ErrorAlert } from "../../components/ErrorAlert";
import { JobLink } from "../../components/JobLink";
import { Moment } from "../../components/Moment";
import { workerPoolsQuery, type Worker, type WorkerPool } from "../../data/workerPools";
import { phaseText, workersText, workerText } from "./workerPool";

const COLUMNS = ["Name", "State", "Runs on", "Workers", "Waiting jobs", "Each worker", "Created"];

/** The worker pools, where there are any, with what each worker does. */
export function WorkerPools() {
  const { data, error, refetch } = useQuery(workerPoolsQuery);
  const problem = error && (
    <ErrorAlert error={error} title="The worker pools could not be read" onRetry={() => void refetch()} />
  );
  if (!data || data.length === 0) return problem;
  return (
    <>
      {problem}
      <Title headingLevel="h2" size="md" className="tw-section">
        Worker pools
      </Title>
      <DataTable label="Worker pools" columns={COLUMNS} numbers={[4]} sentences={[5]} rows={data.map(row)} />
    </>
  );
}

function row({ metadata, spec, status }: WorkerPool): readonly [string, ...ReactNode[]] {
  return [
    metadata.id,
    <strong key="name" className="tw-break">
      {metadata.name}
    </strong>,
    <>
      {phaseText(status.phase)}
      {status.message && <div className="tw-subtle tw-break">{status.message}</div>}
    </>,
    spec.infra,
    workersText({ metadata, spec, status } as WorkerPool),
    status.waitingJobs,
    status.workers.length === 0
      ? "–"
      : status.workers.map((worker) => <WorkerLine key={worker.id} worker={worker} />),
    <Moment key="created" time={metadata.creationTimestamp} />,
  ];
}

function WorkerLine({ worker }: { worker: Worker }) {
  return (
    <div className="tw-break">
      {workerText(worker)}: {worker.usedBy ? <JobLink id={worker.usedBy}>runs a job</JobLink> : idle(worker)}
    </div>
  );
}

function idle({ phase, message }: Worker): string {
  const said = phase === "READY" ? "has no job" : phaseText(phase).toLowerCase();
  return message ? `${said} (${message})` : said;
}
