import { useMemo } from "react";
import { isPhase, PHASES } from "../../components/phases";
import { JobLink } from "../../components/JobLink";
import { useNarrow } from "../../components/useNarrow";
import { useNow } from "../../components/useNow";
import { BOX, drawingOf, type Box } from "./drawing";
import { durationOf, phaseOf, shortened, type Task } from "./pipeline";

const MOST_LETTERS = 13;

/** The tasks as a picture; the table below it says the same in words. */
export function TaskGraph({ tasks }: { tasks: readonly Task[] }) {
  const direction = useNarrow() ? "down" : "across";
  const order = JSON.stringify(tasks.map(({ name, after }) => ({ name, after })));
  const drawing = useMemo(
    () => drawingOf(JSON.parse(order) as { name: string; after: string[] }[], direction),
    [order, direction],
  );
  const { boxes, edges, width, height } = drawing;
  return (
    <div className="tw-graph" role="region" aria-label="The tasks and their order" tabIndex={0}>
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
        <defs>
          <marker
            id="tw-arrow"
            viewBox="0 0 8 8"
            refX="8"
            refY="4"
            markerWidth="8"
            markerHeight="8"
            orient="auto"
          >
            <path d="M0 0 L8 4 L0 8 Z" />
          </marker>
        </defs>
        <g aria-hidden>
          {edges.map(({ from, to, path }) => (
            <path key={`${from} ${to}`} d={path} className="tw-edge" markerEnd="url(#tw-arrow)" />
          ))}
        </g>
        {boxes.map((box) => {
          const task = tasks.find((each) => each.name === box.name);
          return task && <TaskBox key={box.name} box={box} task={task} />;
        })}
      </svg>
    </div>
  );
}

function TaskBox({ box, task }: { box: Box; task: Task }) {
  const now = useNow();
  const phase = phaseOf(task);
  const said = [phase, durationOf(task, now)].filter(Boolean).join(", ");
  const color = isPhase(phase) ? PHASES[phase].color : "grey";
  const drawn = (
    <>
      <rect width={BOX.width} height={BOX.height} rx={8} />
      <rect className="tw-task-mark" width={6} height={BOX.height - 16} x={6} y={8} rx={3} />
      <text x={20} y={24} className="tw-task-name">
        {shortened(task.name, MOST_LETTERS)}
      </text>{" "}
      <text x={20} y={43}>
        {said}
      </text>
    </>
  );
  return (
    <g transform={`translate(${box.x} ${box.y})`} className={`tw-task tw-task-${color}`}>
      <title>{`${task.name}: ${said}`}</title>
      {task.job ? <JobLink id={task.job.metadata.id}>{drawn}</JobLink> : drawn}
    </g>
  );
}
