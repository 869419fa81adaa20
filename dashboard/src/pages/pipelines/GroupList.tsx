import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { Title } from "@patternfly/react-core/dist/dynamic/components/Title";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { DataTable } from "../../components/DataTable";
import { ErrorAlert } from "../../components/ErrorAlert";
import { Moment } from "../../components/Moment";
import { PhaseLabel } from "../../components/PhaseLabel";
import { groupsQuery } from "../../data/groups";
import type { Job } from "./group";

const COLUMNS = ["Name", "Phase", "Runs on", "Submitted"];

/** The job groups, newest first; nothing where there are none. */
export function GroupList() {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } =
    useInfiniteQuery(groupsQuery);
  const jobs = data?.pages.flatMap((page) => page.items) ?? [];
  const problem = error && (
    <ErrorAlert error={error} title="The job groups could not be read" onRetry={() => void refetch()} />
  );
  if (jobs.length === 0) return problem;
  return (
    <>
      {problem}
      <Title headingLevel="h2" size="md" className="tw-section">
        Job groups
      </Title>
      <DataTable label="Job groups" columns={COLUMNS} rows={jobs.map(row)} />
      {hasNextPage && (
        <Button variant="link" isInline isLoading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show older groups
        </Button>
      )}
    </>
  );
}

function row({ metadata, spec, status }: Job): readonly [string, ...React.ReactNode[]] {
  return [
    metadata.id,
    <Link key="name" to="/pipelines/groups/$job" params={{ job: metadata.id }} className="tw-link">
      {metadata.name}
    </Link>,
    <PhaseLabel key="phase" phase={status.phase} />,
    spec.backend,
    <Moment key="submitted" time={metadata.creationTimestamp} />,
  ];
}
