import { ToggleGroup, ToggleGroupItem } from "@patternfly/react-core/dist/dynamic/components/ToggleGroup";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ErrorAlert } from "../../../components/ErrorAlert";
import { figure } from "../../../components/format";
import { metricsQuery } from "../../../data/jobQueries";
import { chartsOf, spoken, type Axis } from "./charts";
import { MetricChart } from "./MetricChart";

const AXES: readonly (readonly [Axis, string])[] = [
  ["step", "By step"],
  ["time", "By time"],
];
const SHOWN = 24;

/** A chart for each metric that the job reports; while it runs, new points come by themselves. */
export function MetricCharts({ id, isLive }: { id: string; isLive: boolean }) {
  const { data, error, refetch } = useQuery(metricsQuery(id, isLive));
  const [axis, setAxis] = useState<Axis>("step");
  if (error && !data)
    return <ErrorAlert error={error} title="The metrics could not be read" onRetry={() => void refetch()} />;
  const charts = data ? chartsOf(data.series) : [];
  if (!data || charts.length === 0) return null;
  return (
    <section aria-label="Metrics" className="tw-section">
      <ToggleGroup aria-label="What is to the right">
        {AXES.map(([name, text]) => (
          <ToggleGroupItem key={name} text={text} isSelected={axis === name} onChange={() => setAxis(name)} />
        ))}
      </ToggleGroup>
      <div className="tw-charts">
        {charts.slice(0, SHOWN).map((chart) => {
          const summary = data.summary[chart.name];
          return (
            <figure key={chart.name} className="tw-chart">
              <figcaption className="tw-break">
                <strong>{chart.name}</strong>{" "}
                {summary && (
                  <span className="tw-subtle">
                    {figure(summary.last)} (from {figure(summary.minimum)} to {figure(summary.maximum)})
                  </span>
                )}
              </figcaption>
              <MetricChart chart={chart} axis={axis} label={spoken(chart, data.summary)} />
            </figure>
          );
        })}
      </div>
      {charts.length > SHOWN && (
        <p className="tw-subtle">{charts.length - SHOWN} more metrics are not drawn.</p>
      )}
    </section>
  );
}
