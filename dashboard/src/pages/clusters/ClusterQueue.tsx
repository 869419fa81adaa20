import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { useState } from "react";
import { DataTable } from "../../components/DataTable";
import { count, elapsed } from "../../components/format";
import { JobLink } from "../../components/JobLink";
import { Moment } from "../../components/Moment";
import { PhaseLabel } from "../../components/PhaseLabel";
import { useNow } from "../../components/useNow";
import type { ClusterJob } from "../../data/clusters";
import { queueOf } from "./cluster";

const COLUMNS = ["Name", "Number", "State", "Needs", "Submitted", "Duration", "Why"];
const SHOWN = 20;

/** The jobs of a cluster: those that run, those that wait in their order, and those that have ended. */
export function ClusterQueue({ jobs, name }: { jobs: readonly ClusterJob[]; name: string }) {
  const [isAll, setAll] = useState(false);
  const now = useNow();
  const { running, waiting, ended } = queueOf(jobs);
  if (jobs.length === 0) {
    return (
      <p>
        No job has run here yet. Submit one: <code>trainway exec {name} &apos;python train.py&apos;</code>
      </p>
    );
  }
  const shown = isAll ? ended : ended.slice(0, SHOWN);
  const rest = ended.length - shown.length;
  return (
    <>
      <p className="tw-subtle">
        {count(running.length, "job runs", "jobs run")}, {count(waiting.length, "job waits", "jobs wait")},{" "}
        {count(ended.length, "job has", "jobs have")} ended. Those that wait start in this order, as soon as
        they fit.
      </p>
      <DataTable
        label="Queue"
        columns={COLUMNS}
        numbers={[1]}
        rows={[...running, ...waiting, ...shown].map(({ number, resources, job }) => [
          job.metadata.id,
          <JobLink key="name" id={job.metadata.id}>
            {job.metadata.name}
          </JobLink>,
          number,
          <PhaseLabel key="phase" phase={job.status.phase} />,
          resources,
          <Moment key="submitted" time={job.metadata.creationTimestamp} />,
          elapsed(job.status.startTime, job.status.completionTime, now),
          job.status.message,
        ])}
      />
      {rest > 0 && (
        <Button variant="link" onClick={() => setAll(true)}>
          Show {count(rest, "older job")}
        </Button>
      )}
    </>
  );
}
