import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { useState, type ReactNode } from "react";
import { Bar } from "../../components/Bar";
import { DataTable } from "../../components/DataTable";
import { bytes, count, figure } from "../../components/format";
import { JobLink } from "../../components/JobLink";
import type { NodeInfo } from "../../data/infra";
import { gpusInUse } from "./infra";

const FIRST = 50;
const MOST_JOBS = 3;

interface Props {
  backend: string;
  nodes: readonly NodeInfo[];
}

/** The nodes one by one; of many only the first, until somebody wants all. */
export function NodeTable({ backend, nodes }: Props) {
  const [isWhole, setIsWhole] = useState(false);
  const shown = isWhole ? nodes : nodes.slice(0, FIRST);
  const hasSorts = nodes.some((node) => node.sort !== "");
  const hasGpus = nodes.some((node) => node.gpus > 0);
  const columns = [
    "Node",
    "State",
    ...(hasSorts ? ["Kind"] : []),
    "CPUs in use",
    "Memory in use",
    ...(hasGpus ? ["GPUs in use"] : []),
    "Jobs",
  ];
  return (
    <>
      <DataTable
        label={`Nodes of ${backend}`}
        columns={columns}
        sentences={[1]}
        rows={shown.map(
          (node) =>
            [
              node.name,
              node.name,
              <State key="state" node={node} />,
              ...(hasSorts ? [node.sort] : []),
              <Share key="cpus" part={node.cpus - node.freeCpus} whole={node.cpus} text={figure} />,
              <Share key="memory" part={node.memory - node.freeMemory} whole={node.memory} text={bytes} />,
              ...(hasGpus ? [node.gpus > 0 ? gpusInUse(node) : "none"] : []),
              <NodeJobs key="jobs" node={node} />,
            ] as const,
        )}
      />
      {shown.length < nodes.length && (
        <Button variant="link" isInline onClick={() => setIsWhole(true)}>
          Show all {count(nodes.length, "node")}
        </Button>
      )}
    </>
  );
}

interface ShareProps {
  part: number;
  whole: number;
  text: (amount: number) => string;
}

function Share({ part, whole, text }: ShareProps): ReactNode {
  if (whole === 0) return "–";
  return <Bar part={part} whole={whole} label={`${text(part)} of ${text(whole)}`} />;
}

function State({ node }: { node: NodeInfo }): ReactNode {
  if (!node.problem) return node.state;
  return (
    <>
      <strong>Takes no jobs</strong>
      <div className="tw-subtle">{node.problem}</div>
    </>
  );
}

function NodeJobs({ node }: { node: NodeInfo }): ReactNode {
  if (node.jobs.length === 0) return "–";
  const more = node.jobs.length - MOST_JOBS;
  return (
    <>
      {node.jobs.slice(0, MOST_JOBS).map((job) => (
        <div key={job.id}>
          <JobLink id={job.id}>{job.name}</JobLink>
          <span className="tw-subtle">
            {job.pods > 1 && ` ${count(job.pods, "pod")}`}
            {job.utilization !== null && ` GPUs ${Math.round(job.utilization)} % busy`}
          </span>
        </div>
      ))}
      {more > 0 && <span className="tw-subtle">and {more} more</span>}
    </>
  );
}
