import { useQuery } from "@tanstack/react-query";
import { EmptyPage } from "../../components/EmptyPage";
import { ErrorAlert } from "../../components/ErrorAlert";
import { JobLink } from "../../components/JobLink";
import { Loading } from "../../components/Loading";
import { Moment } from "../../components/Moment";
import { PageFrame } from "../../components/PageFrame";
import { PhaseLabel } from "../../components/PhaseLabel";
import { get } from "../../data/client";
import { KEYS } from "../../data/queries";

export default function JobsPage() {
  const { data, error, refetch } = useQuery({
    queryKey: [KEYS.jobs, "newest"],
    queryFn: ({ signal }) => get("/api/v1/jobs", { query: { fields: "summary" }, signal }),
  });
  return (
    <PageFrame title="Jobs">
      {error && (
        <ErrorAlert error={error} title="The jobs could not be read" onRetry={() => void refetch()} />
      )}
      {!data && !error && <Loading what="the jobs" />}
      {data?.items.length === 0 && (
        <EmptyPage title="There are no jobs yet">
          Run one: <code>trainway run -- python train.py</code>
        </EmptyPage>
      )}
      <ul>
        {data?.items.map((job) => (
          <li key={job.metadata.id} data-row>
            <PhaseLabel phase={job.status.phase} />{" "}
            <JobLink id={job.metadata.id}>{job.metadata.name}</JobLink>{" "}
            <Moment time={job.metadata.creationTimestamp} />
          </li>
        ))}
      </ul>
    </PageFrame>
  );
}
