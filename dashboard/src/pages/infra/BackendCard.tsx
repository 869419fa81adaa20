import { Alert } from "@patternfly/react-core/dist/dynamic/components/Alert";
import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { Card, CardBody, CardHeader, CardTitle } from "@patternfly/react-core/dist/dynamic/components/Card";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Bar } from "../../components/Bar";
import { ErrorAlert } from "../../components/ErrorAlert";
import { bytes, count, figure } from "../../components/format";
import { Loading } from "../../components/Loading";
import { nodesQuery, type BackendNodes, type JobQueue } from "../../data/infra";
import { placesQuery } from "../../data/places";
import { queryClient } from "../../data/queries";
import { Findings } from "./Findings";
import { HeatMap } from "./HeatMap";
import { matching, nodesText, sumOf } from "./infra";
import { NodeTable } from "./NodeTable";
import { Hint } from "../../components/Hint";

interface Props {
  name: string;
  /** The jobs that are there, where that is known. */
  load: JobQueue | undefined;
  filter: string;
}

/** One backend, which is asked by itself. */
export function BackendCard({ name, load, filter }: Props) {
  const { data, error, refetch, isFetching } = useQuery(nodesQuery(name));
  const [isChecked, setIsChecked] = useState(false);
  const check = () => {
    if (isChecked) void queryClient.invalidateQueries({ queryKey: placesQuery(name).queryKey });
    setIsChecked(true);
  };
  const actions = (
    <>
      <Button variant="secondary" size="sm" aria-label={`Check ${name}`} onClick={check}>
        Check
      </Button>
      <Button
        variant="link"
        size="sm"
        aria-label={`Refresh ${name}`}
        isDisabled={isFetching}
        onClick={() => void refetch()}
      >
        Refresh
      </Button>
    </>
  );
  return (
    <Card isCompact component="section">
      <CardHeader hasWrap actions={{ actions, hasNoOffset: true }}>
        <CardTitle component="h2" className="tw-break">
          {name}
        </CardTitle>
      </CardHeader>
      <CardBody>
        {load && (
          <p>
            <Link to="/jobs" search={{ backend: name, phase: "active" }} className="tw-link">
              {count(load.running, "job")} running, {load.waiting} waiting
            </Link>
          </p>
        )}
        {error && <ErrorAlert error={error} title={`${name} could not be read`} />}
        {data ? <Content data={data} filter={filter} /> : !error && <Loading what={name} />}
        {isChecked && <Findings backend={name} />}
      </CardBody>
    </Card>
  );
}

function Content({ data, filter }: { data: BackendNodes; filter: string }) {
  if (data.problem) {
    return (
      <Alert variant="warning" isInline component="h3" title="It cannot be asked for its nodes">
        <p className="tw-break">{data.problem}</p>
        {data.hint && (
          <p>
            <Hint text={data.hint} />
          </p>
        )}
      </Alert>
    );
  }
  if (!data.tells) return <p className="tw-subtle">This backend does not list its nodes.</p>;
  const nodes = matching(data.nodes, filter);
  const sums = sumOf(data.nodes);
  return (
    <>
      <p>
        {nodesText(data.nodes, data.total)}
        {data.nodes.length < data.total && `; the first ${data.nodes.length} are shown`}
      </p>
      {sums.cpus > 0 && (
        <div className="tw-bars">
          <Bar
            part={sums.usedCpus}
            whole={sums.cpus}
            label={`${figure(sums.usedCpus)} of ${count(sums.cpus, "CPU")} in use`}
          />
          <Bar
            part={sums.usedMemory}
            whole={sums.memory}
            label={`${bytes(sums.usedMemory)} of ${bytes(sums.memory)} of memory in use`}
          />
          {sums.gpus > 0 && (
            <Bar
              part={sums.usedGpus}
              whole={sums.gpus}
              label={`${sums.usedGpus} of ${count(sums.gpus, "GPU")} in use`}
            />
          )}
        </div>
      )}
      <HeatMap backend={data.name} nodes={nodes} />
      {nodes.length > 0 ? (
        <NodeTable backend={data.name} nodes={nodes} />
      ) : (
        <p className="tw-subtle">{filter ? "No node is like that." : "It has no nodes."}</p>
      )}
    </>
  );
}
