import { useQuery } from "@tanstack/react-query";
import { duration, figure } from "../../components/format";
import { isOver } from "../../components/phases";
import { Sparkline } from "../../components/Sparkline";
import { timeLeft, type Progress } from "../../components/timeLeft";
import { useNow } from "../../components/useNow";
import { curveQuery, type FineTune } from "../../data/finetunes";
import { tokensPerSecond } from "./fineTune";

/** The loss of a fine-tune as a small line with its last value, and how fast it goes. */
export function Curve({ tune }: { tune: FineTune }) {
  const { data } = useQuery(curveQuery(tune.id, !isOver(tune.phase)));
  const losses = (data?.series["loss"] ?? []).map((point) => point.value);
  const last = losses.at(-1);
  if (last === undefined)
    return <span className="tw-subtle">{isOver(tune.phase) ? "none" : "none yet"}</span>;
  const speed = tokensPerSecond(data?.series["num_tokens"]);
  return (
    <>
      <Sparkline values={losses} label={`Loss of ${tune.name}`} text={figure(last)} />
      {speed !== null && <div className="tw-subtle">{Math.round(speed).toLocaleString("en")} tokens/s</div>}
    </>
  );
}

/** How much is done and how long the rest will take; of one that does not run now nobody knows when it goes on. */
export function TimeLeft({ tune }: { tune: FineTune }) {
  const now = useNow();
  const progress = tune.progress as Progress | null;
  const left = tune.phase === "Running" ? timeLeft(progress, tune.startTime, now) : null;
  const percent = progress?.progressPercentage;
  if (isOver(tune.phase)) return <span className="tw-subtle">it has ended</span>;
  return (
    <>
      {left === null ? (
        <span className="tw-subtle">not known</span>
      ) : (
        `${left.isReported ? "" : "about "}${duration(left.seconds)}`
      )}
      {typeof percent === "number" && <div className="tw-subtle">{percent} % done</div>}
    </>
  );
}
