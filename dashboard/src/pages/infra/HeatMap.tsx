import type { NodeInfo } from "../../data/infra";
import { gpuColumns, gpusInUse, heatCell } from "./infra";

interface Props {
  backend: string;
  nodes: readonly NodeInfo[];
}

/** How busy every GPU is, by node. Each cell says in text what its colour says. */
export function HeatMap({ backend, nodes }: Props) {
  const withGpus = nodes.filter((node) => node.gpus > 0);
  if (withGpus.length === 0) return null;
  const columns = gpuColumns(withGpus);
  return (
    <>
      <div className="tw-table-frame" role="region" aria-label={`GPUs of ${backend}`} tabIndex={0}>
        <table className="tw-heat" role="table">
          <thead role="rowgroup">
            <tr role="row">
              <th scope="col" role="columnheader">
                Node
              </th>
              {columns.map((name) => (
                <th key={name} scope="col" role="columnheader">
                  GPU {name}
                </th>
              ))}
              {columns.length === 0 && (
                <th scope="col" role="columnheader">
                  GPUs
                </th>
              )}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {withGpus.map((node) => (
              <HeatRow key={node.name} node={node} columns={columns} />
            ))}
          </tbody>
        </table>
      </div>
      <p className="tw-subtle">
        {columns.length > 0
          ? "A number is how busy a GPU is. “In use” and “free” are GPUs that nobody measures."
          : "This backend tells how many GPUs are in use, but not which."}
      </p>
    </>
  );
}

function HeatRow({ node, columns }: { node: NodeInfo; columns: readonly string[] }) {
  const devices = new Map(node.devices.map((gpu) => [gpu.name, gpu]));
  return (
    <tr role="row">
      <th scope="row" role="rowheader">
        {node.name}
      </th>
      {node.devices.length === 0 ? (
        <td role="cell" colSpan={Math.max(1, columns.length)}>
          {gpusInUse(node)}
        </td>
      ) : (
        columns.map((name) => {
          const gpu = devices.get(name);
          if (!gpu) return <td key={name} role="cell" />;
          const cell = heatCell(gpu);
          const look = cell.level === null ? (cell.isHeld ? "held" : "unknown") : cell.level;
          return (
            <td
              key={name}
              role="cell"
              className={`tw-heat-${look}`}
              title={cell.label}
              data-label={`GPU ${name}`}
            >
              {cell.text}
            </td>
          );
        })
      )}
    </tr>
  );
}
