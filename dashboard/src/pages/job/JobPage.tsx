import "./job.css";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";
import { EmptyPage } from "../../components/EmptyPage";
import { ErrorAlert } from "../../components/ErrorAlert";
import { Loading } from "../../components/Loading";
import { PageFrame } from "../../components/PageFrame";
import { PhaseLabel } from "../../components/PhaseLabel";
import { ApiError } from "../../data/errors";
import { jobQuery } from "../../data/queries";
import { Facts } from "./Facts";
import { FailureSummary } from "./FailureSummary";
import { JobActions } from "./JobActions";
import { JobTabs, loadTab } from "./JobTabs";

export default function JobPage() {
  const { job: ref } = useParams({ from: "/jobs/$job" });
  const { data: job, error, refetch } = useQuery(jobQuery(ref));
  const navigate = useNavigate();
  const search = useSearch({ strict: false });
  useEffect(() => loadTab(search), [search]);
  const id = job?.metadata.id;
  useEffect(() => {
    // A name may belong to another job tomorrow, and live events tell of ids.
    if (id && id !== ref) {
      void navigate({ to: "/jobs/$job", params: { job: id }, search: (search) => search, replace: true });
    }
  }, [id, ref, navigate]);
  const isGone = error instanceof ApiError && error.status === 404;
  if (job && isGone) {
    return (
      <PageFrame title={job.metadata.name}>
        <EmptyPage title="This job was deleted">
          Its logs, metrics and files are gone with it.{" "}
          <Link to="/jobs" className="tw-link">
            All jobs
          </Link>
        </EmptyPage>
      </PageFrame>
    );
  }
  if (error && !job) {
    return (
      <PageFrame title="Job">
        <ErrorAlert
          error={error}
          title={isGone ? "There is no such job" : "The job could not be read"}
          onRetry={() => void refetch()}
        />
      </PageFrame>
    );
  }
  if (!job) return <Loading what="the job" />;
  return (
    <PageFrame
      title={job.metadata.name}
      beside={<PhaseLabel phase={job.status.phase} />}
      actions={<JobActions job={job} />}
    >
      {error && <ErrorAlert error={error} title="What is shown may be old" />}
      <FailureSummary job={job} />
      <Facts job={job} />
      <JobTabs job={job} />
    </PageFrame>
  );
}
