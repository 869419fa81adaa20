import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { DataTable } from "../../components/DataTable";
import { EmptyPage } from "../../components/EmptyPage";
import { ErrorAlert } from "../../components/ErrorAlert";
import { Loading } from "../../components/Loading";
import { Moment } from "../../components/Moment";
import { PageFrame } from "../../components/PageFrame";
import { clustersQuery, type Cluster } from "../../data/clusters";
import { useNow } from "../../components/useNow";
import { autostopText, clusterCost, resourcesText } from "./cluster";
import { ClusterState } from "./ClusterState";
import { WorkerPools } from "./WorkerPools";

const COLUMNS = ["Name", "State", "Runs on", "Nodes", "Active jobs", "Cost", "Stops", "Launched"];

export default function ClustersPage() {
  const { data, error, refetch } = useQuery(clustersQuery);
  const now = useNow();
  return (
    <PageFrame title="Clusters">
      {error && (
        <ErrorAlert error={error} title="The clusters could not be read" onRetry={() => void refetch()} />
      )}
      {!data && !error && <Loading what="the clusters" />}
      {data?.length === 0 && (
        <EmptyPage title="There are no clusters yet">
          <p>A cluster is a number of nodes that you hold, with a queue of its own. Create one:</p>
          <p>
            <code>trainway launch -c dev --cpus 2 &apos;python train.py&apos;</code>
          </p>
          <p>It appears here. Submit another job to it:</p>
          <p>
            <code>trainway exec dev &apos;python train.py&apos;</code>
          </p>
        </EmptyPage>
      )}
      {data && data.length > 0 && (
        <DataTable
          label="Clusters"
          columns={COLUMNS}
          numbers={[4]}
          rows={data.map((each) => row(each, now))}
        />
      )}
      <WorkerPools />
    </PageFrame>
  );
}

function row(cluster: Cluster, now: number): readonly [string, ...React.ReactNode[]] {
  const { metadata, spec, status } = cluster;
  return [
    metadata.id,
    <Link key="name" to="/clusters/$cluster" params={{ cluster: metadata.name }} className="tw-link">
      {metadata.name}
    </Link>,
    <>
      <ClusterState phase={status.phase} />
      {status.message && <div className="tw-subtle tw-break">{status.message}</div>}
    </>,
    spec.infra,
    <>
      {spec.nodes}
      <div className="tw-subtle">each with {resourcesText(cluster)}</div>
    </>,
    status.activeJobs,
    clusterCost(cluster, now) || "–",
    autostopText(spec.autostop),
    <Moment key="launched" time={metadata.creationTimestamp} />,
  ];
}
