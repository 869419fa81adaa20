import { useQuery } from "@tanstack/react-query";
import { ErrorAlert } from "../../components/ErrorAlert";
import { Loading } from "../../components/Loading";
import { change } from "../../data/client";
import { Cell, Row, Table } from "./Table";

interface Props {
  backend: string;
  /** The LocalQueue that the job names; empty: none. */
  queue: string;
  namespace: string;
}

const COLUMNS = ["Flavor", "Resource", "Quota", "Used"] as const;

/** What the queue of the job may use, where its backend has queues. */
export function QueueQuotas({ backend, queue, namespace }: Props) {
  const { data, error } = useQuery({
    queryKey: ["offer", backend],
    queryFn: () => change("post", "/api/v1/backends/offer", { body: { backend } }),
    enabled: queue !== "",
    staleTime: 30_000,
  });
  if (queue === "") return null;
  if (error) return <ErrorAlert error={error} title="The queue could not be asked" />;
  if (!data) return <Loading what="the queue" />;
  const found = data.queues.find((each) => each.name === queue && each.namespace === namespace);
  if (!found) {
    return (
      <p className="tw-break">
        {data.problem || `The queue ${queue} is not there in namespace ${namespace}.`}
      </p>
    );
  }
  return (
    <>
      <p className="tw-break">
        Queue <strong>{found.name}</strong> of {found.clusterQueue}: {found.pending} waiting, {found.admitted}{" "}
        admitted. {found.problem}
      </p>
      <Table label={`Quota of ${found.name}`} columns={COLUMNS}>
        {found.quotas.map((quota) => (
          <Row key={`${quota.flavor}/${quota.resource}`}>
            <Cell label="Flavor">{quota.flavor}</Cell>
            <Cell label="Resource">{quota.resource}</Cell>
            <Cell label="Quota">{quota.nominal}</Cell>
            <Cell label="Used">{quota.used}</Cell>
          </Row>
        ))}
      </Table>
    </>
  );
}
