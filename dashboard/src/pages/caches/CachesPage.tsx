import { useQuery } from "@tanstack/react-query";
import { DataTable } from "../../components/DataTable";
import { EmptyPage } from "../../components/EmptyPage";
import { ErrorAlert } from "../../components/ErrorAlert";
import { bytes, count } from "../../components/format";
import { JobLink } from "../../components/JobLink";
import { Loading } from "../../components/Loading";
import { Moment } from "../../components/Moment";
import { PageFrame } from "../../components/PageFrame";
import { PhaseLabel } from "../../components/PhaseLabel";
import { isOver, isPhase } from "../../components/phases";
import { cachesQuery, type DataCache } from "../../data/caches";
import { usage } from "./cache";

const COLUMNS = ["Cache", "State", "Table", "Size", "Readers", "How to use it"];

/** Tables that are served to jobs: how each one stands, and how to read it. */
export default function CachesPage() {
  const { data, error, refetch } = useQuery(cachesQuery);
  return (
    <PageFrame title="Caches">
      {error && (
        <ErrorAlert error={error} title="The caches could not be read" onRetry={() => void refetch()} />
      )}
      {!data && !error && <Loading what="the caches" />}
      {data?.length === 0 && (
        <EmptyPage title="There are no data caches yet">
          <p>A data cache reads a table once and serves its rows to several jobs:</p>
          <p>
            <code>trainway cache apply words s3://bucket/train --workers 2</code>
          </p>
        </EmptyPage>
      )}
      {data && data.length > 0 && (
        <DataTable label="Caches" columns={COLUMNS} sentences={[2, 5]} rows={data.map(row)} />
      )}
    </PageFrame>
  );
}

function row(cache: DataCache): readonly [string, ...React.ReactNode[]] {
  return [
    cache.name,
    <>
      <JobLink id={cache.job}>{cache.name}</JobLink>
      <div className="tw-subtle">
        {cache.backend}, {cache.workers === 0 ? "head only" : count(cache.workers, "worker")}
      </div>
      <div className="tw-subtle">
        <Moment time={cache.created} />
      </div>
    </>,
    <>
      {isPhase(cache.state) ? <PhaseLabel phase={cache.state} /> : <strong>{cache.state}</strong>}
      {cache.message && <div className="tw-subtle tw-break">{cache.message}</div>}
    </>,
    <span key="table" className="tw-break">
      {cache.table}
    </span>,
    <Size key="size" cache={cache} />,
    cache.readers === null ? <span className="tw-subtle">not known</span> : String(cache.readers),
    <Usage key="usage" cache={cache} />,
  ];
}

function Size({ cache }: { cache: DataCache }) {
  if (cache.bytes === null) return <span className="tw-subtle">not known</span>;
  return (
    <>
      {bytes(cache.bytes)}
      <div className="tw-subtle">
        {cache.rows === null ? count(cache.files ?? 0, "file") : count(cache.rows, "row")}
      </div>
    </>
  );
}

function Usage({ cache }: { cache: DataCache }) {
  const text = usage(cache);
  if (isOver(cache.state)) return <span className="tw-subtle">it has ended</span>;
  if (!text)
    return (
      <>
        <code>trainway cache ls</code> finds its address.
      </>
    );
  return (
    <>
      <code className="tw-break">{text}</code>
      {cache.hasToken && (
        <div className="tw-subtle">
          Readers need its <code>TRAINWAY_CACHE_TOKEN</code>.
        </div>
      )}
    </>
  );
}
