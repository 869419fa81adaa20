import { Title } from "@patternfly/react-core/dist/dynamic/components/Title";
import { useQuery } from "@tanstack/react-query";
import { DataTable } from "../../../components/DataTable";
import { ErrorAlert } from "../../../components/ErrorAlert";
import { FactList } from "../../../components/FactList";
import { Moment } from "../../../components/Moment";
import { isOver } from "../../../components/phases";
import { eventsQuery } from "../../../data/jobQueries";
import type { JobProps } from "../jobProps";
import { OtherPlaces } from "./OtherPlaces";
import { movesOf, moveText, nextPlaces } from "./placement";

const COLUMNS = ["When", "What", "Message"];

/** Where the job is, why, and where else it could be. */
export default function PlacementTab({ job }: JobProps) {
  const { data, error, refetch } = useQuery(eventsQuery(job.metadata.id));
  const moves = movesOf(data?.items ?? []);
  return (
    <>
      <FactList
        facts={[
          [isOver(job.status.phase) ? "It ran on" : "It is at", job.spec.backend],
          ["Moving", moveText(job.status)],
          ["Then", nextPlaces(job.status)],
        ]}
      />
      <Title headingLevel="h2" size="md" className="tw-section">
        Moves
      </Title>
      {error && !data && (
        <ErrorAlert error={error} title="The events could not be read" onRetry={() => void refetch()} />
      )}
      {data && moves.length === 0 && <p>It has not moved.</p>}
      {moves.length > 0 && (
        <DataTable
          label="Moves, newest first"
          columns={COLUMNS}
          sentences={[2]}
          rows={moves.map(
            ({ key, time, what, message }) =>
              [key, <Moment key="when" time={time} />, what, message] as const,
          )}
        />
      )}
      <Title headingLevel="h2" size="md" className="tw-section">
        Other places
      </Title>
      {isOver(job.status.phase) ? (
        <p>The job has ended, so it does not move any more.</p>
      ) : (
        <OtherPlaces job={job} />
      )}
    </>
  );
}
