import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { limitText } from "../../components/cost";
import { DataTable } from "../../components/DataTable";
import { EmptyPage } from "../../components/EmptyPage";
import { ErrorAlert } from "../../components/ErrorAlert";
import { Loading } from "../../components/Loading";
import { Moment } from "../../components/Moment";
import { PageFrame } from "../../components/PageFrame";
import { PhaseLabel } from "../../components/PhaseLabel";
import { pipelinesQuery, type Run } from "../../data/pipelines";
import { GroupList } from "./GroupList";
import { countsText } from "./pipeline";

const COLUMNS = ["Name", "Phase", "Tasks", "Runs on", "Submitted"];
const LIMIT = "May cost";

/** The pipelines, newest first. */
export default function PipelinesPage() {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } =
    useInfiniteQuery(pipelinesQuery);
  const runs = data?.pages.flatMap((page) => page.items) ?? [];
  const hasLimits = runs.some((run) => limitText(run.status.budget));
  const columns = hasLimits ? [...COLUMNS, LIMIT] : COLUMNS;
  return (
    <PageFrame title="Pipelines">
      {error && (
        <ErrorAlert error={error} title="The pipelines could not be read" onRetry={() => void refetch()} />
      )}
      {!data && !error && <Loading what="the pipelines" />}
      {data && runs.length === 0 && (
        <EmptyPage title="There are no pipelines yet">
          <p>
            A file with several tasks, which <code>---</code> separates, is a pipeline:
          </p>
          <p>
            <code>trainway run pipeline.yaml</code>
          </p>
        </EmptyPage>
      )}
      {runs.length > 0 && (
        <DataTable label="Pipelines" columns={columns} rows={runs.map((run) => row(run, hasLimits))} />
      )}
      {hasNextPage && (
        <Button variant="link" isInline isLoading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show older ones
        </Button>
      )}
      <GroupList />
    </PageFrame>
  );
}

function row(run: Run, hasLimits: boolean): readonly [string, ...React.ReactNode[]] {
  const { id, name, creationTimestamp } = run.metadata;
  return [
    id,
    <Link key="name" to="/pipelines/$run" params={{ run: id }} className="tw-link">
      {name}
    </Link>,
    <PhaseLabel key="phase" phase={run.status.phase} />,
    countsText(run),
    run.spec.backend,
    <Moment key="submitted" time={creationTimestamp} />,
    ...(hasLimits ? [limitText(run.status.budget) || "–"] : []),
  ];
}
