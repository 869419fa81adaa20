import { Progress } from "@patternfly/react-core/dist/dynamic/components/Progress";
import type { Schemas } from "../../data/client";
import { count } from "../../components/format";

type Use = Schemas["BackendUse"];

/** What jobs use of each backend. */
export function BackendUses({ backends }: { backends: Use[] }) {
  return (
    <ul className="tw-list">
      {backends.map((backend) => (
        <li key={backend.name}>
          <strong className="tw-break">{backend.name}</strong>{" "}
          <span className="tw-subtle">
            {backend.running} running, {backend.waiting} waiting
          </span>
          <Bar name={backend.name} unit="GPU" used={backend.gpus} total={backend.totalGpus} />
          <Bar name={backend.name} unit="CPU" used={backend.cpus} total={backend.totalCpus} />
        </li>
      ))}
    </ul>
  );
}

function Bar({
  name,
  unit,
  used,
  total,
}: {
  name: string;
  unit: string;
  used: number;
  total: number | null;
}) {
  if (total === null) return used > 0 ? <div>{count(used, unit)} in use</div> : null;
  if (total === 0) return null;
  return (
    <Progress
      size="sm"
      aria-label={`${unit}s of ${name}`}
      title={`${used} of ${count(total, unit)} in use`}
      value={Math.min(100, (100 * used) / total)}
      measureLocation="none"
    />
  );
}
