import { Alert } from "@patternfly/react-core/dist/dynamic/components/Alert";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lastWordsQuery } from "../../data/jobQueries";
import { adviceFor } from "./advice";
import type { JobProps } from "./jobProps";
import { LogText } from "./logs/LogText";

interface Failure {
  summary: string;
  node: string;
  role: string;
  job: number;
  rank: number;
  attempt: number;
}

/** Of a job that failed: who failed first, why, and what to do. Of one that waits: why. */
export function FailureSummary({ job }: JobProps) {
  const { status } = job;
  if (status.phase === "Inadmissible") {
    return (
      <Alert variant="warning" isInline title="The job cannot start" component="h2" className="tw-gap">
        <p className="tw-break">{status.message}</p>
      </Alert>
    );
  }
  if (status.phase !== "Failed") return null;
  const failure = status.failure as unknown as Failure | null | undefined;
  const title = failure?.summary ?? [status.reason, status.message].filter(Boolean).join(": ");
  return (
    <Alert
      variant="danger"
      isInline
      title={<span className="tw-break">{title || "The job failed"}</span>}
      component="h2"
      className="tw-gap"
    >
      <p>
        <strong>What to do:</strong> {adviceFor(status)}
      </p>
      {failure && <LastWords id={job.metadata.id} failure={failure} />}
    </Alert>
  );
}

/** What went wrong is said last. */
function showEnd(box: HTMLElement | null): void {
  if (box) box.scrollTop = box.scrollHeight;
}

function LastWords({ id, failure }: { id: string; failure: Failure }) {
  const { role, job, rank, attempt, node } = failure;
  const { data } = useQuery(lastWordsQuery(id, { role, job, rank, attempt }));
  if (!data || data.lines.length === 0) return null;
  return (
    <>
      <p>
        The last lines of {node}
        {" ("}
        <Link
          to="/jobs/$job"
          params={{ job: id }}
          search={{ tab: "logs", node: `${role}/${job}/${rank}`, attempt: String(attempt) }}
          className="tw-link"
        >
          all of its log
        </Link>
        ):
      </p>
      <pre className="tw-last-words" tabIndex={0} aria-label={`The last lines of ${node}`} ref={showEnd}>
        {data.lines.map((line) => (
          <span key={line.id}>
            <LogText line={line} />
            {"\n"}
          </span>
        ))}
      </pre>
    </>
  );
}
