import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ErrorAlert } from "../../components/ErrorAlert";
import { count } from "../../components/format";
import { Loading } from "../../components/Loading";
import { PageFrame } from "../../components/PageFrame";
import { serverQuery } from "../../data/queries";

export default function OverviewPage() {
  const { data, error, refetch } = useQuery(serverQuery);
  return (
    <PageFrame title="Overview">
      {error && (
        <ErrorAlert
          error={error}
          title="The server’s state could not be read"
          onRetry={() => void refetch()}
        />
      )}
      {data ? (
        <p>
          <Link to="/jobs" className="tw-link">
            {count(data.jobs.total, "job")}
          </Link>
          , {data.jobs.active} of them active.
        </p>
      ) : (
        !error && <Loading what="the overview" />
      )}
    </PageFrame>
  );
}
