import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { ErrorAlert } from "../../components/ErrorAlert";
import { Loading } from "../../components/Loading";
import { PageFrame } from "../../components/PageFrame";
import { PhaseLabel } from "../../components/PhaseLabel";
import { jobQuery } from "../../data/queries";

export default function JobPage() {
  const { job: ref } = useParams({ from: "/jobs/$job" });
  const { data: job, error, refetch } = useQuery(jobQuery(ref));
  if (error)
    return <ErrorAlert error={error} title="The job could not be read" onRetry={() => void refetch()} />;
  if (!job) return <Loading what="the job" />;
  return (
    <PageFrame title={job.metadata.name} beside={<PhaseLabel phase={job.status.phase} />}>
      <p className="tw-break">{job.status.message || "The server says nothing more about it."}</p>
    </PageFrame>
  );
}
