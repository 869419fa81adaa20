import { isPhase, PHASES } from "../../components/phases";
import { useNarrow } from "../../components/useNarrow";
import { BOX } from "./drawing";
import { saidOf, type Member } from "./group";
import { shortened } from "./pipeline";

const MOST_LETTERS = 13;
const GAP = 16;
const TITLE = 28;
const ACROSS = 4;
/** How broad the frames are at least, for their titles; a phone has room for it. */
const LEAST = 256;

/** The tasks that run side by side, in a frame for the primary ones and one for the others. */
export function GroupGraph({ members }: { members: readonly Member[] }) {
  const across = useNarrow() ? 1 : ACROSS;
  const frames = [
    { title: "Primary: the group ends with these", members: members.filter((each) => each.isPrimary) },
    { title: "Auxiliary: ended after those", members: members.filter((each) => !each.isPrimary) },
  ].filter((frame) => frame.members.length > 0);
  const columns = Math.min(across, Math.max(...frames.map((frame) => frame.members.length), 1));
  const width = Math.max(columns * (BOX.width + GAP) + GAP, LEAST);
  const heights = frames.map(({ members: own }) => frameHeight(own.length, across));
  const tops = heights.map((_, index) =>
    heights.slice(0, index).reduce((sum, height) => sum + height + GAP, 0),
  );
  const height = heights.reduce((sum, each) => sum + each + GAP, 0);
  return (
    <div className="tw-graph" role="region" aria-label="The tasks that run together" tabIndex={0}>
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
        {frames.map((frame, index) => (
          <g key={frame.title} transform={`translate(0 ${tops[index]})`}>
            <rect
              className="tw-group"
              x={1}
              y={1}
              width={width - 2}
              height={(heights[index] ?? 0) - 2}
              rx={8}
            />
            <text className="tw-group-title" x={GAP} y={20}>
              {frame.title}
            </text>
            {frame.members.map((member, number) => (
              <MemberBox
                key={member.name}
                member={member}
                x={GAP + (number % across) * (BOX.width + GAP)}
                y={TITLE + Math.floor(number / across) * (BOX.height + GAP)}
              />
            ))}
          </g>
        ))}
      </svg>
    </div>
  );
}

function frameHeight(members: number, across: number): number {
  return TITLE + Math.ceil(members / across) * (BOX.height + GAP);
}

function MemberBox({ member, x, y }: { member: Member; x: number; y: number }) {
  const color = isPhase(member.phase) ? PHASES[member.phase].color : "grey";
  return (
    <g transform={`translate(${x} ${y})`} className={`tw-task tw-task-${color}`}>
      <title>{`${member.name}: ${saidOf(member)}`}</title>
      <rect width={BOX.width} height={BOX.height} rx={8} />
      <rect className="tw-task-mark" width={6} height={BOX.height - 16} x={6} y={8} rx={3} />
      <text x={20} y={24} className="tw-task-name">
        {shortened(member.name, MOST_LETTERS)}
      </text>{" "}
      <text x={20} y={43}>
        {saidOf(member)}
      </text>
    </g>
  );
}
