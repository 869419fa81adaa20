import { useQuery } from "@tanstack/react-query";
import { ErrorAlert } from "../../components/ErrorAlert";
import { Loading } from "../../components/Loading";
import { PageFrame } from "../../components/PageFrame";
import { jobQueuesQuery } from "../../data/infra";
import { BackendQueue } from "./BackendQueue";
import { ManagedQueues } from "./ManagedQueues";
import "./queues.css";

/** Who waits for what: the queue of every backend, in order and with reasons. */
export default function QueuesPage() {
  const { data, error, refetch } = useQuery(jobQueuesQuery);
  return (
    <PageFrame title="Queues">
      <ManagedQueues />
      {error && (
        <ErrorAlert error={error} title="The queues could not be read" onRetry={() => void refetch()} />
      )}
      {!data && !error && <Loading what="the queues" />}
      <div className="tw-stack">
        {data?.items.map((queue) => (
          <BackendQueue key={queue.name} queue={queue} />
        ))}
      </div>
    </PageFrame>
  );
}
