import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { useInfiniteQuery } from "@tanstack/react-query";
import { DataTable } from "../../components/DataTable";
import { EmptyPage } from "../../components/EmptyPage";
import { ErrorAlert } from "../../components/ErrorAlert";
import { JobLink } from "../../components/JobLink";
import { Loading } from "../../components/Loading";
import { Moment } from "../../components/Moment";
import { PageFrame } from "../../components/PageFrame";
import { PhaseLabel } from "../../components/PhaseLabel";
import { fineTunesQuery, type FineTune } from "../../data/finetunes";
import { Curve, TimeLeft } from "./Curve";
import { resultState, shortName } from "./fineTune";

const COLUMNS = ["Name", "Phase", "Model", "Data", "Loss", "Time left", "Result"];

/** Jobs that tune language models: what is tuned, how it goes, and where the result is. */
export default function FineTunesPage() {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } =
    useInfiniteQuery(fineTunesQuery);
  const tunes = data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <PageFrame title="Fine-tunes">
      {error && (
        <ErrorAlert error={error} title="The fine-tunes could not be read" onRetry={() => void refetch()} />
      )}
      {!data && !error && <Loading what="the fine-tunes" />}
      {data && tunes.length === 0 && (
        <EmptyPage title="There are no fine-tunes yet">
          <p>Fine-tune a model on a dataset:</p>
          <p>
            <code>trainway finetune MODEL DATASET --method lora</code>
          </p>
        </EmptyPage>
      )}
      {tunes.length > 0 && (
        <DataTable label="Fine-tunes" columns={COLUMNS} sentences={[6]} rows={tunes.map(row)} />
      )}
      {hasNextPage && (
        <Button variant="link" isInline isLoading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show older ones
        </Button>
      )}
    </PageFrame>
  );
}

function row(tune: FineTune): readonly [string, ...React.ReactNode[]] {
  return [
    tune.id,
    <>
      <JobLink id={tune.id}>{tune.name}</JobLink>
      <div className="tw-subtle">
        {tune.task} with {tune.method}, {tune.backend}
      </div>
      <div className="tw-subtle">
        <Moment time={tune.created} />
      </div>
    </>,
    <PhaseLabel key="phase" phase={tune.phase} />,
    <Place key="model" of={tune.model} />,
    <Place key="data" of={tune.dataset} />,
    <Curve key="loss" tune={tune} />,
    <TimeLeft key="left" tune={tune} />,
    <Result key="result" tune={tune} />,
  ];
}

function Place({ of }: { of: string }) {
  return (
    <span className="tw-break" title={of}>
      {shortName(of)}
    </span>
  );
}

function Result({ tune }: { tune: FineTune }) {
  const state = resultState(tune);
  if (tune.phase === "Failed") return <span className="tw-break">{tune.message}</span>;
  return (
    <>
      <span className="tw-break">{tune.output}</span>
      {state && <div className="tw-subtle">{state}</div>}
      {tune.exportMessage && <div className="tw-subtle tw-break">{tune.exportMessage}</div>}
    </>
  );
}
