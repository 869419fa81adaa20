import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { Label } from "@patternfly/react-core/dist/dynamic/components/Label";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { EmptyPage } from "../../../components/EmptyPage";
import { bytes, figure } from "../../../components/format";
import { isOver, nodeMeaning } from "../../../components/phases";
import { PhaseLabel } from "../../../components/PhaseLabel";
import type { Schemas } from "../../../data/client";
import { usageQuery } from "../../../data/jobQueries";
import type { JobProps } from "../jobProps";
import { Cell, Row, Table } from "../Table";
import { CopyCommand } from "./CopyCommand";
import {
  exitText,
  nodeName,
  nodesOf,
  RESOURCES,
  seriesOf,
  shellCommand,
  type JobNode,
  type Resource,
} from "./node";
import { Sparkline } from "../../../components/Sparkline";

const TITLES: Record<Resource, string> = { cpu: "CPU", memory: "Memory", gpu: "GPU" };
const AT_ONCE = 100;

type Series = Schemas["MetricHistory"]["series"];

export default function NodesTab({ job }: JobProps) {
  const { id } = job.metadata;
  const isLive = !isOver(job.status.phase);
  const [shown, setShown] = useState(AT_ONCE);
  const { data } = useQuery(usageQuery(id, isLive));
  const nodes = nodesOf(job);
  if (nodes.length === 0)
    return <EmptyPage title="No nodes yet">They are shown when the job was placed.</EmptyPage>;
  const series = data?.series ?? {};
  const measured = RESOURCES.filter((resource) =>
    nodes.some((node) => valuesOf(series, node, resource).length > 0),
  );
  const hasHosts = nodes.some((node) => node.host);
  const columns = [
    "Node",
    "Phase",
    ...(hasHosts ? ["Host"] : []),
    "Restarts",
    "Exit code",
    ...measured.map((resource) => TITLES[resource]),
    "Logs",
    ...(isLive ? ["Shell"] : []),
  ];
  const culprit = (job.status.failure as { node?: string } | null | undefined)?.node;
  return (
    <>
      <Table label="Nodes" columns={columns}>
        {nodes.slice(0, shown).map((node) => (
          <Row key={nodeName(node)}>
            <Cell label="Node">
              {nodeName(node)}{" "}
              {nodeName(node) === culprit && (
                <Label isCompact color="red">
                  failed first
                </Label>
              )}
            </Cell>
            <Cell label="Phase">
              <PhaseLabel phase={node.phase} meaning={nodeMeaning(node.phase)} />{" "}
              {node.message ?? node.reason ?? node.lastReason ?? ""}
            </Cell>
            {hasHosts && <Cell label="Host">{node.host ?? "–"}</Cell>}
            <Cell label="Restarts">{node.restarts}</Cell>
            <Cell label="Exit code">
              {exitText(node) || "–"}{" "}
              {node.stopped && <span className="tw-subtle">(stopped by Trainway)</span>}
            </Cell>
            {measured.map((resource) => (
              <Cell key={resource} label={TITLES[resource]}>
                <Measured series={series} node={node} resource={resource} />
              </Cell>
            ))}
            <Cell label="Logs">
              <Link
                to="/jobs/$job"
                params={{ job: id }}
                search={{ tab: "logs", node: `${node.role}/${node.job}/${node.rank}` }}
                className="tw-link"
              >
                Logs of {nodeName(node)}
              </Link>
            </Cell>
            {isLive && (
              <Cell label="Shell">
                {shellCommand(id, node) ? (
                  <CopyCommand command={shellCommand(id, node)} isDisabled={node.phase !== "Running"} />
                ) : (
                  "–"
                )}
              </Cell>
            )}
          </Row>
        ))}
      </Table>
      {nodes.length > shown && (
        <Button variant="link" onClick={() => setShown(shown + AT_ONCE)}>
          Show more of {nodes.length} nodes
        </Button>
      )}
    </>
  );
}

/** The values of a resource over time; of several GPUs their average. */
function valuesOf(series: Series, node: JobNode, resource: Resource): number[] {
  const found = seriesOf(Object.keys(series), nodeName(node), resource).map((name) => series[name] ?? []);
  const longest = Math.max(0, ...found.map((points) => points.length));
  return Array.from({ length: longest }, (_, index) => {
    const values = found.map((points) => points[index]?.value).filter((each) => typeof each === "number");
    return values.reduce((sum, each) => sum + each, 0) / values.length;
  });
}

function Measured({ series, node, resource }: { series: Series; node: JobNode; resource: Resource }) {
  const values = valuesOf(series, node, resource);
  const last = values.at(-1) ?? 0;
  const text = resource === "memory" ? bytes(last) : `${figure(Math.round(last))} %`;
  const label = `${TITLES[resource]} of ${nodeName(node)}`;
  return (
    <Sparkline values={values} label={label} text={text} {...(resource === "memory" ? {} : { top: 100 })} />
  );
}
