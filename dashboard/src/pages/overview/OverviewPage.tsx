import { Card, CardBody, CardTitle } from "@patternfly/react-core/dist/dynamic/components/Card";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { EmptyPage } from "../../components/EmptyPage";
import { ErrorAlert } from "../../components/ErrorAlert";
import { count } from "../../components/format";
import { JobLink } from "../../components/JobLink";
import { Loading } from "../../components/Loading";
import { Moment } from "../../components/Moment";
import { PageFrame } from "../../components/PageFrame";
import { PhaseLabel } from "../../components/PhaseLabel";
import { PHASE_NAMES } from "../../components/phases";
import type { Schemas } from "../../data/client";
import { overviewQuery } from "../../data/queries";
import { BackendUses } from "./BackendUses";
import { DayChart } from "./DayChart";

type Job = Schemas["Job"];

export default function OverviewPage() {
  const { data, error, refetch } = useQuery(overviewQuery);
  return (
    <PageFrame title="Overview">
      {error && (
        <ErrorAlert error={error} title="The overview could not be read" onRetry={() => void refetch()} />
      )}
      {!data && !error && <Loading what="the overview" />}
      {data && <Content overview={data} />}
    </PageFrame>
  );
}

function Content({ overview }: { overview: Schemas["Overview"] }) {
  const phases = PHASE_NAMES.filter((phase) => overview.phases[phase]);
  if (phases.length === 0) {
    return (
      <EmptyPage title="There are no jobs yet">
        Run one: <code>trainway run -- python train.py</code>. It appears here at once.
      </EmptyPage>
    );
  }
  const waiting = overview.backends.reduce((sum, backend) => sum + backend.waiting, 0);
  return (
    <div className="tw-cards">
      <Part title="Jobs now">
        <div className="tw-chips">
          {phases.map((phase) => (
            <Link key={phase} to="/jobs" search={{ phase }} className="tw-link">
              <PhaseLabel phase={phase} /> {overview.phases[phase]?.toLocaleString("en")}
            </Link>
          ))}
        </div>
      </Part>
      <Part title="The last day">
        <DayChart hours={overview.hours} />
      </Part>
      <Part title="Recent failures">
        <JobList jobs={overview.failures} none="No job has failed." text={culprit} />
      </Part>
      <Part title="Backends">
        <BackendUses backends={overview.backends} />
      </Part>
      <Part title={waiting > 0 ? `Longest waiting, of ${count(waiting, "job")} in the queue` : "Queue"}>
        <JobList jobs={overview.waiting} none="No job waits." text={(job) => job.status.message} />
      </Part>
    </div>
  );
}

/** Who failed first, and how. */
function culprit(job: Job): string {
  const summary = job.status.failure?.["summary"];
  return typeof summary === "string" ? summary : job.status.message;
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card isCompact>
      <CardTitle component="h2">{title}</CardTitle>
      <CardBody>{children}</CardBody>
    </Card>
  );
}

interface ListProps {
  jobs: Job[];
  none: string;
  text: (job: Job) => string;
}

function JobList({ jobs, none, text }: ListProps) {
  if (jobs.length === 0) return <p className="tw-subtle">{none}</p>;
  return (
    <ul className="tw-list">
      {jobs.map((job) => (
        <li key={job.metadata.id} data-row>
          <JobLink id={job.metadata.id}>{job.metadata.name}</JobLink>{" "}
          <span className="tw-subtle">
            on {job.spec.backend},{" "}
            <Moment time={job.status.completionTime ?? job.metadata.creationTimestamp} />
          </span>
          <div className="tw-break">{text(job)}</div>
        </li>
      ))}
    </ul>
  );
}
