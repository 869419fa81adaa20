import { Alert } from "@patternfly/react-core/dist/dynamic/components/Alert";
import { Title } from "@patternfly/react-core/dist/dynamic/components/Title";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { spendingOf } from "../../components/cost";
import { figure } from "../../components/format";
import { Loading } from "../../components/Loading";
import { SpendingView } from "../../components/SpendingView";
import { useNow } from "../../components/useNow";
import { compiledQuery } from "../../data/jobQueries";
import type { JobProps } from "./jobProps";
import { requestText, roleRequests } from "./requests";
import { QueueQuotas } from "./QueueQuotas";
import { Cell, Row, Table } from "./Table";

const COLUMNS = ["Role", "Nodes", "Requests of each node", "Limits of each node"] as const;
const WAITING = ["Pending", "Queued", "Inadmissible"];
const QUEUE_LABEL = "kueue.x-k8s.io/queue-name";

export default function ResourcesTab({ job }: JobProps) {
  const { status, spec, metadata } = job;
  const { data } = useQuery(compiledQuery(metadata.id));
  const now = useNow();
  const isWaiting = WAITING.includes(status.phase);
  const usage = status.usage;
  const spending = spendingOf(status, now);
  const since = usage?.runningSince ? Math.max(0, now - Date.parse(usage.runningSince)) / 3_600_000 : 0;
  const hours = (done: number, meanwhile: number | null | undefined) =>
    figure(done + since * (meanwhile ?? 0));
  return (
    <>
      {isWaiting && (
        <Alert
          variant={status.phase === "Inadmissible" ? "warning" : "info"}
          isInline
          component="h2"
          className="tw-gap"
          title={
            status.queuePosition ? `It waits, at position ${status.queuePosition} of the queue` : "It waits"
          }
        >
          <p className="tw-break">{status.message || "It starts as soon as there is room for all of it."}</p>
        </Alert>
      )}
      <Title headingLevel="h2" size="md">
        What it asks for
      </Title>
      {!data && <Loading what="the requests" />}
      {data && (
        <Table label="Requests by role" columns={COLUMNS}>
          {roleRequests(data.jobSet).map((role) => (
            <Row key={role.role}>
              <Cell label="Role">{role.role}</Cell>
              <Cell label="Nodes">{role.nodes}</Cell>
              <Cell label="Requests of each node">
                {requestText(role.requests) || "nothing in particular"}
              </Cell>
              <Cell label="Limits of each node">{requestText(role.limits) || "none"}</Cell>
            </Row>
          ))}
        </Table>
      )}
      <Title headingLevel="h2" size="md" className="tw-section">
        Queue and use
      </Title>
      <dl className="tw-facts">
        <div>
          <dt>Runs on</dt>
          <dd>{spec.backend}</dd>
        </div>
        <div>
          <dt>Queue</dt>
          <dd>
            <Link to="/queues/$queue" params={{ queue: spec.queue }} className="tw-link">
              {spec.queue}
            </Link>
          </dd>
        </div>
        <div>
          <dt>Priority</dt>
          <dd>{spec.priority}</dd>
        </div>
        <div>
          <dt>GPU-hours</dt>
          <dd>{hours(usage?.gpuHours ?? 0, usage?.gpus)}</dd>
        </div>
        <div>
          <dt>CPU-hours</dt>
          <dd>{hours(usage?.cpuHours ?? 0, usage?.cpus)}</dd>
        </div>
        {spending && (
          <div>
            <dt>Cost</dt>
            <dd>
              <SpendingView spending={spending} />
            </dd>
          </div>
        )}
      </dl>
      <QueueQuotas
        backend={spec.backend}
        queue={metadata.labels[QUEUE_LABEL] ?? ""}
        namespace={metadata.namespace}
      />
    </>
  );
}
