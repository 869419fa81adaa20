import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { EmptyPage } from "../../components/EmptyPage";
import { ErrorAlert } from "../../components/ErrorAlert";
import { duration } from "../../components/format";
import { Loading } from "../../components/Loading";
import { Moment } from "../../components/Moment";
import { isOver } from "../../components/phases";
import { useNow } from "../../components/useNow";
import type { Schemas } from "../../data/client";
import { attemptsQuery } from "../../data/jobQueries";
import type { JobProps } from "./jobProps";
import { secondsOf } from "./attempt";
import { Stacks } from "./Stacks";
import { Cell, Row, Table } from "./Table";

const COLUMNS = ["Attempt", "Started", "Ran for", "Why it ended", "Logs"] as const;

export default function AttemptsTab({ job }: JobProps) {
  const { id } = job.metadata;
  const { data, error, refetch, dataUpdatedAt } = useQuery(attemptsQuery(id));
  const now = useNow();
  const passed = isOver(job.status.phase) ? 0 : (now - dataUpdatedAt) / 1000;
  if (error && !data)
    return <ErrorAlert error={error} title="The attempts could not be read" onRetry={() => void refetch()} />;
  if (!data) return <Loading what="the attempts" />;
  if (data.items.length === 0) {
    return (
      <EmptyPage title="Not started yet">
        The first attempt begins when there is room for all of the job.
      </EmptyPage>
    );
  }
  const items = data.items.toReversed();
  return (
    <>
      <Table label="Attempts, newest first" columns={COLUMNS}>
        {items.map((attempt) => (
          <Row key={attempt.attempt}>
            <Cell label="Attempt">{attempt.attempt + 1}</Cell>
            <Cell label="Started">
              <Moment time={attempt.startTime} />
            </Cell>
            <Cell label="Ran for">{duration(secondsOf(attempt, passed))}</Cell>
            <Cell label="Why it ended">{endOf(attempt, job.status)}</Cell>
            <Cell label="Logs">
              <Link
                to="/jobs/$job"
                params={{ job: id }}
                search={{ tab: "logs", attempt: String(attempt.attempt) }}
                className="tw-link"
              >
                Logs of attempt {attempt.attempt + 1}
              </Link>
            </Cell>
          </Row>
        ))}
      </Table>
      <Stacks id={id} attempts={items} isRunning={!isOver(job.status.phase)} />
    </>
  );
}

function endOf(attempt: Schemas["Attempt"], status: Schemas["JobStatus"]): string {
  const { phase } = status;
  const failure = status.failure as { summary?: string } | null | undefined;
  if (attempt.cause) return attempt.cause;
  if (!attempt.isNewest) return "It was started anew.";
  if (failure?.summary) return failure.summary;
  return isOver(phase) || phase === "Paused" ? phase : "It goes on.";
}
