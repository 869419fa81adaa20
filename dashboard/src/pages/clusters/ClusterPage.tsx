import { Title } from "@patternfly/react-core/dist/dynamic/components/Title";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { DataTable } from "../../components/DataTable";
import { ErrorAlert } from "../../components/ErrorAlert";
import { FactList } from "../../components/FactList";
import { Loading } from "../../components/Loading";
import { Moment } from "../../components/Moment";
import { PageFrame } from "../../components/PageFrame";
import { clusterJobsQuery, clusterQuery, type Cluster } from "../../data/clusters";
import { useNow } from "../../components/useNow";
import { autostopText, clusterCost, machinesText, refusals, resourcesText } from "./cluster";
import { ClusterActions } from "./ClusterActions";
import { ClusterQueue } from "./ClusterQueue";
import { ClusterState } from "./ClusterState";

/** One cluster: what it is, its nodes, and its queue. */
export default function ClusterPage() {
  const { cluster: name } = useParams({ from: "/clusters/$cluster" });
  const { data: cluster, error, refetch } = useQuery(clusterQuery(name));
  const jobs = useQuery({ ...clusterJobsQuery(name), enabled: cluster !== undefined });
  if (!cluster) {
    return (
      <PageFrame title={name}>
        {error ? (
          <ErrorAlert error={error} title="The cluster could not be read" onRetry={() => void refetch()} />
        ) : (
          <Loading what="the cluster" />
        )}
      </PageFrame>
    );
  }
  return (
    <PageFrame
      title={name}
      beside={<ClusterState phase={cluster.status.phase} />}
      actions={<ClusterActions cluster={cluster} jobs={jobs.data ?? []} />}
    >
      {error && <ErrorAlert error={error} title="What is shown may be old" />}
      <Facts cluster={cluster} />
      <Title headingLevel="h2" size="md" className="tw-section">
        Nodes
      </Title>
      <Nodes cluster={cluster} />
      <Title headingLevel="h2" size="md" className="tw-section">
        Queue
      </Title>
      {jobs.error && (
        <ErrorAlert
          error={jobs.error}
          title="The queue could not be read"
          onRetry={() => void jobs.refetch()}
        />
      )}
      {jobs.data ? (
        <ClusterQueue jobs={jobs.data} name={name} />
      ) : (
        !jobs.error && <Loading what="the queue" />
      )}
    </PageFrame>
  );
}

function Facts({ cluster }: { cluster: Cluster }) {
  const { metadata, spec, status } = cluster;
  const now = useNow();
  const tried = refusals(cluster);
  return (
    <FactList
      facts={[
        ["Message", status.message],
        ["Runs on", spec.infra],
        ["Nodes", spec.nodes],
        ["Each node has", resourcesText(cluster)],
        ["Rented machines", machinesText(cluster)],
        ["Cost", clusterCost(cluster, now)],
        ["Refused before", tried.length > 0 && tried.map((line) => <div key={line}>{line}</div>)],
        ["Stops", autostopText(spec.autostop)],
        ["Launched", <Moment key="launched" time={metadata.creationTimestamp} />],
        ["Folder", status.directory && <code>{status.directory}</code>],
      ]}
    />
  );
}

function Nodes({ cluster }: { cluster: Cluster }) {
  const { nodes, phase } = cluster.status;
  if (nodes.length === 0) {
    const why = phase === "STOPPED" ? "A stopped cluster has none." : "It waits for them.";
    return <p className="tw-subtle">It has no nodes now. {why}</p>;
  }
  return (
    <DataTable
      label="Nodes"
      columns={["Node", "Host", "Address", "GPUs"]}
      rows={nodes.map(({ host, address, gpus }, index) => [
        String(index),
        index,
        host,
        address || "–",
        gpus.length > 0 ? gpus.join(", ") : "none",
      ])}
    />
  );
}
