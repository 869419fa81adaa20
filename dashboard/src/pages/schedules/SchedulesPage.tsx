import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { DataTable } from "../../components/DataTable";
import { EmptyPage } from "../../components/EmptyPage";
import { ErrorAlert } from "../../components/ErrorAlert";
import { count } from "../../components/format";
import { Loading } from "../../components/Loading";
import { Moment } from "../../components/Moment";
import { PageFrame } from "../../components/PageFrame";
import { schedulesQuery, type Schedule } from "../../data/schedules";
import { LastTime } from "./LastTime";
import { jobsOf, remark, wallTime } from "./schedule";
import { ScheduleActions } from "./ScheduleActions";

const COLUMNS = ["Name", "Times", "Next", "Last time", "Jobs", "Actions"];

export default function SchedulesPage() {
  const { data, error, refetch } = useQuery(schedulesQuery);
  return (
    <PageFrame
      title="Schedules"
      actions={
        data && data.length > 0 ? (
          <Link to="/schedules/new" className="tw-link">
            New schedule
          </Link>
        ) : undefined
      }
    >
      {error && (
        <ErrorAlert error={error} title="The schedules could not be read" onRetry={() => void refetch()} />
      )}
      {!data && !error && <Loading what="the schedules" />}
      {data?.length === 0 && (
        <EmptyPage title="There are no schedules yet">
          <p>A schedule submits a job again and again, such as every night at three:</p>
          <p>
            <code>trainway schedule create &quot;0 3 * * *&quot; train.yaml</code>
          </p>
          <p>
            Or{" "}
            <Link to="/schedules/new" className="tw-link">
              write one here
            </Link>
            .
          </p>
        </EmptyPage>
      )}
      {data && data.length > 0 && (
        <DataTable label="Schedules" columns={COLUMNS} sentences={[3]} rows={data.map(row)} />
      )}
    </PageFrame>
  );
}

function row(schedule: Schedule): readonly [string, ...React.ReactNode[]] {
  const { metadata, spec, status } = schedule;
  const { name } = metadata;
  const active = status.activeJobs.length;
  const jobs = active > 0 ? count(active, "active job") : "Jobs";
  return [
    metadata.id,
    <>
      <span className="tw-break">{name}</span>
      <div className="tw-subtle">
        {spec.kind} on {spec.backend}
      </div>
    </>,
    <>
      <code>{spec.cron}</code>
      <div className="tw-subtle">{spec.timezone}</div>
    </>,
    spec.paused ? (
      "paused"
    ) : (
      <>
        <Moment time={status.next} />
        {status.next && <div className="tw-subtle">{wallTime(status.next, spec.timezone)}</div>}
      </>
    ),
    <>
      <LastTime last={status.last ?? null} />
      <div className="tw-break">{remark(schedule)}</div>
    </>,
    <Link key="jobs" to="/jobs" search={jobsOf(name)} className="tw-link" aria-label={`${jobs} of ${name}`}>
      {jobs}
    </Link>,
    <ScheduleActions key="actions" name={name} isPaused={spec.paused} />,
  ];
}
