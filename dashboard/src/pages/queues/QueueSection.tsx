import { Bar } from "../../components/Bar";
import { DataTable } from "../../components/DataTable";
import { JobLink } from "../../components/JobLink";
import { Moment } from "../../components/Moment";
import type { QueueDetail } from "../../data/infra";
import { quotaBar } from "./quotas";

const COLUMNS = ["Name", "Position", "Belongs to", "Priority", "Since", "Why it waits"] as const;

/** A queue of the backend itself: Kueue's LocalQueue, or a partition of Slurm. */
export function QueueSection({ queue }: { queue: QueueDetail }) {
  const name = queue.namespace ? `${queue.namespace}/${queue.name}` : queue.name;
  return (
    <section className="tw-queue" aria-label={`Queue ${name}`}>
      <h3 className="tw-break">
        <strong>{name}</strong>{" "}
        <span className="tw-subtle">
          {queue.clusterQueue && `of ClusterQueue ${queue.clusterQueue}: `}
          {queue.admitted} admitted, {queue.total} waiting
        </span>
      </h3>
      {queue.problem && (
        <p className="tw-break">
          <strong>It admits nothing:</strong> {queue.problem}
        </p>
      )}
      <div className="tw-bars">
        {queue.quotas.map(quotaBar).map((bar) => (
          <div key={bar.key}>
            <div className="tw-break">{bar.name}</div>
            <Bar part={bar.used} whole={bar.nominal} label={bar.label} />
          </div>
        ))}
      </div>
      {queue.quotas.length === 0 && (
        <p className="tw-subtle">Its quota may not be read with the rights of this server.</p>
      )}
      {queue.waiting.length > 0 && (
        <DataTable
          label={`Who waits in ${name}`}
          columns={COLUMNS}
          numbers={[1, 3]}
          sentences={[5]}
          rows={queue.waiting.map(
            (waiter) =>
              [
                `${waiter.position}`,
                waiter.job ? (
                  <JobLink key="job" id={waiter.job}>
                    {waiter.name}
                  </JobLink>
                ) : (
                  waiter.name
                ),
                waiter.position,
                waiter.owner,
                waiter.priority,
                <Moment key="since" time={waiter.since} />,
                waiter.reason,
              ] as const,
          )}
        />
      )}
      {queue.waiting.length < queue.total && (
        <p className="tw-subtle">
          {queue.waiting.length === 0
            ? "Who waits may not be read with the rights of this server."
            : `The first ${queue.waiting.length} are shown.`}
        </p>
      )}
    </section>
  );
}
