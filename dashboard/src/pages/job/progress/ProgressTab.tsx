import { Progress } from "@patternfly/react-core/dist/dynamic/components/Progress";
import { duration, figure } from "../../../components/format";
import { isOver } from "../../../components/phases";
import { useNow } from "../../../components/useNow";
import type { JobProps } from "../jobProps";
import { MetricCharts } from "./MetricCharts";
import { StepTree } from "./StepTree";
import { stepsOf } from "./steps";
import { counter, lastMetrics, timeLeft, type Progress as Reported } from "../../../components/timeLeft";

export default function ProgressTab({ job }: JobProps) {
  const now = useNow();
  const { status } = job;
  const progress = status.progress as Reported | null;
  const isLive = !isOver(status.phase);
  const left = isLive && status.phase === "Running" ? timeLeft(progress, status.startTime, now) : null;
  const [step, epoch] = [counter(progress, "step"), counter(progress, "epoch")];
  const percent = progress?.progressPercentage;
  return (
    <>
      <div className="tw-columns">
        <StepTree steps={stepsOf(job)} />
        <div className="tw-progress">
          {typeof percent === "number" ? (
            <Progress
              value={percent}
              title="Training"
              aria-label="Progress of the training"
              {...(status.phase === "Failed" ? { variant: "danger" as const } : {})}
              {...(status.phase === "Succeeded" && percent === 100 ? { variant: "success" as const } : {})}
            />
          ) : (
            <p className="tw-subtle">
              The training reports no progress. With{" "}
              <code>trainway.report(step=1, loss=0.5, progress=10)</code> in its code there is a bar here, and
              charts below.
            </p>
          )}
          <dl className="tw-facts">
            {left && (
              <div>
                <dt>Time left</dt>
                <dd>
                  {left.isReported ? "" : "about "}
                  {duration(left.seconds)}
                </dd>
              </div>
            )}
            {step && (
              <div>
                <dt>Step</dt>
                <dd>{step}</dd>
              </div>
            )}
            {epoch && (
              <div>
                <dt>Epoch</dt>
                <dd>{epoch}</dd>
              </div>
            )}
            {lastMetrics(progress)
              .slice(0, 12)
              .map((metric) => (
                <div key={metric.name}>
                  <dt className="tw-break">{metric.name}</dt>
                  <dd>
                    {Number.isFinite(Number(metric.value)) ? figure(Number(metric.value)) : metric.value}
                  </dd>
                </div>
              ))}
          </dl>
        </div>
      </div>
      <MetricCharts id={job.metadata.id} isLive={isLive} />
    </>
  );
}
