import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { Label } from "@patternfly/react-core/dist/dynamic/components/Label";
import BanIcon from "@patternfly/react-icons/dist/esm/icons/ban-icon";
import CheckCircleIcon from "@patternfly/react-icons/dist/esm/icons/check-circle-icon";
import ExclamationTriangleIcon from "@patternfly/react-icons/dist/esm/icons/exclamation-triangle-icon";
import type { ReactNode } from "react";
import { bytes, count, figure } from "../../components/format";
import { JobLink } from "../../components/JobLink";
import type { NodeInfo } from "../../data/infra";
import { asideTerms, failuresText, STATES, stateOf, whyNot, type NodeRow } from "./nodes";

export const NODE_COLUMNS = ["Node", "State", "Free", "Jobs", "Failures in the last day", "Actions"];
const MOST_JOBS = 3;
const LOOKS = {
  ready: { color: "green", Icon: CheckCircleIcon },
  aside: { color: "orange", Icon: BanIcon },
  away: { color: "red", Icon: ExclamationTriangleIcon },
} as const;

interface Props {
  row: NodeRow;
  /** Somebody wants to set it aside, or to let it in again. */
  onAsk: (row: NodeRow) => void;
}

/** The cells of one node. */
export function NodeCells({ row, onAsk }: Props) {
  const { place, node, drains } = row;
  const cells: ReactNode[] = [
    <>
      <strong className="tw-break">{node.name}</strong>
      <div className="tw-subtle tw-break">{[place, node.sort].filter(Boolean).join(", ")}</div>
    </>,
    <State key="state" node={node} />,
    <Free key="free" node={node} />,
    <NodeJobs key="jobs" node={node} />,
    <>
      {failuresText(node)}
      {node.lastFailure && <div className="tw-subtle tw-break">{node.lastFailure}</div>}
    </>,
    drains && (
      <Button
        size="sm"
        variant="secondary"
        aria-label={`${node.drained ? "Undrain" : "Drain"} ${node.name} of ${place}`}
        onClick={() => onAsk(row)}
      >
        {node.drained ? "Undrain" : "Drain"}
      </Button>
    ),
  ];
  return cells.map((cell, index) => (
    <div key={NODE_COLUMNS[index]} role="cell" data-label={NODE_COLUMNS[index]}>
      <div>{cell}</div>
    </div>
  ));
}

function State({ node }: { node: NodeInfo }) {
  const state = stateOf(node);
  const { color, Icon } = LOOKS[state];
  const why = whyNot(node);
  const terms = asideTerms(node, (moment) => new Date(moment).toLocaleString());
  return (
    <>
      <Label isCompact color={color} icon={<Icon />}>
        {STATES[state]}
      </Label>
      {why && <div className="tw-break">{why}</div>}
      {terms && <div className="tw-subtle tw-break">{terms}</div>}
    </>
  );
}

function Free({ node }: { node: NodeInfo }) {
  const parts = [
    node.cpus > 0 && `${figure(node.freeCpus)} of ${count(node.cpus, "CPU")}`,
    node.memory > 0 && `${bytes(node.freeMemory)} of ${bytes(node.memory)}`,
    node.gpus > 0 && `${node.freeGpus} of ${count(node.gpus, "GPU")}`,
  ].filter((part) => part !== false);
  return parts.length > 0 ? parts.map((part) => <div key={part}>{part}</div>) : "–";
}

function NodeJobs({ node }: { node: NodeInfo }) {
  if (node.jobs.length === 0) return "–";
  const more = node.jobs.length - MOST_JOBS;
  return (
    <>
      {node.jobs.slice(0, MOST_JOBS).map((job) => (
        <div key={job.id} className="tw-break">
          <JobLink id={job.id}>{job.name}</JobLink>
          {job.pods > 1 && <span className="tw-subtle"> {count(job.pods, "pod")}</span>}
        </div>
      ))}
      {more > 0 && <span className="tw-subtle">and {more} more</span>}
    </>
  );
}
