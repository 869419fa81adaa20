import { Title } from "@patternfly/react-core/dist/dynamic/components/Title";
import { useQuery } from "@tanstack/react-query";
import { DataTable } from "../../components/DataTable";
import { EmptyPage } from "../../components/EmptyPage";
import { ErrorAlert } from "../../components/ErrorAlert";
import { namesText } from "../../components/format";
import { JobLink } from "../../components/JobLink";
import { Loading } from "../../components/Loading";
import { Moment } from "../../components/Moment";
import { PageFrame } from "../../components/PageFrame";
import { bucketsQuery, volumesQuery, type Bucket, type Volume } from "../../data/storage";

const VOLUMES = ["Volume", "Type", "Where", "What it is", "Used by", "Created"];
const BUCKETS = ["Bucket", "Store", "Last job", "When no job uses it", "State", "Updated"];

/** What jobs mount by name: volumes, and the buckets that tasks have named. */
export default function StoragePage() {
  const volumes = useQuery(volumesQuery);
  const buckets = useQuery(bucketsQuery);
  const isEmpty = volumes.data?.length === 0 && buckets.data?.length === 0;
  const isWaiting = [volumes, buckets].every((each) => !each.data && !each.error);
  return (
    <PageFrame title="Storage">
      {volumes.error && (
        <ErrorAlert
          error={volumes.error}
          title="The volumes could not be read"
          onRetry={() => void volumes.refetch()}
        />
      )}
      {buckets.error && (
        <ErrorAlert
          error={buckets.error}
          title="The buckets could not be read"
          onRetry={() => void buckets.refetch()}
        />
      )}
      {isWaiting && <Loading what="the storage" />}
      {isEmpty && (
        <EmptyPage title="There are no volumes and no buckets yet">
          <p>A volume is a folder or a claim that jobs mount by its name:</p>
          <p>
            <code>trainway volumes apply -n corpus --type directory --infra local --path /srv/corpus</code>
          </p>
          <p>A bucket is listed here when a task names it in its file_mounts.</p>
        </EmptyPage>
      )}
      {volumes.data && volumes.data.length > 0 && (
        <>
          <Title headingLevel="h2" size="md" className="tw-section">
            Volumes
          </Title>
          <DataTable label="Volumes" columns={VOLUMES} rows={volumes.data.map(volumeRow)} />
        </>
      )}
      {buckets.data && buckets.data.length > 0 && (
        <>
          <Title headingLevel="h2" size="md" className="tw-section">
            Buckets
          </Title>
          <DataTable label="Buckets" columns={BUCKETS} sentences={[4]} rows={buckets.data.map(bucketRow)} />
        </>
      )}
    </PageFrame>
  );
}

function volumeRow(volume: Volume): readonly [string, ...React.ReactNode[]] {
  const what = volume.hostPath || (volume.size ? `a claim of ${volume.size}` : "a claim");
  return [
    volume.name,
    <span key="name" className="tw-break">
      {volume.name}
    </span>,
    volume.type,
    volume.infra,
    <>
      <span className="tw-break">{what}</span>
      <div className="tw-subtle">{volume.accessMode}</div>
    </>,
    volume.usedBy.length > 0 ? (
      <span className="tw-break">{namesText(volume.usedBy)}</span>
    ) : (
      <span className="tw-subtle">no job</span>
    ),
    <Moment key="created" time={volume.created} />,
  ];
}

function bucketRow(bucket: Bucket): readonly [string, ...React.ReactNode[]] {
  return [
    bucket.uri,
    <span key="name" className="tw-break">
      {bucket.name}
    </span>,
    bucket.store,
    bucket.job ? (
      <JobLink key="job" id={bucket.job}>
        {bucket.job}
      </JobLink>
    ) : (
      <span key="job" className="tw-subtle">
        no job
      </span>
    ),
    bucket.made && !bucket.persistent ? "it is removed" : "it stays",
    <span key="state" className="tw-break">
      {bucket.state}
    </span>,
    <Moment key="updated" time={bucket.updated} />,
  ];
}
