import { useQueries } from "@tanstack/react-query";
import { ErrorAlert } from "../../components/ErrorAlert";
import { Loading } from "../../components/Loading";
import { get } from "../../data/client";
import { KEYS } from "../../data/queries";
import { aligned, type Compared, type Point } from "./comparison";
import { OverlayChart } from "./OverlayChart";

const MOST = 20;

/** A metric of the jobs over time. */
export function MetricChart({ metric, jobs }: { metric: string; jobs: readonly Compared[] }) {
  const shown = jobs.filter((job) => job.metrics[metric]).slice(0, MOST);
  const found = useQueries({
    queries: shown.map((job) => ({
      queryKey: [KEYS.job, job.id, "metric", metric],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        get("/api/v1/jobs/{ref}/metrics", {
          path: { ref: job.id },
          query: { series: [metric], resolution: 500 },
          signal,
        }),
    })),
    combine: (results) => {
      const histories = results.map((result) => result.data);
      const isComplete = histories.every((history) => history !== undefined);
      const curves = histories.map((history) => (history?.series[metric] ?? []) as readonly Point[]);
      return {
        error: results.find((result) => result.error)?.error,
        curves: isComplete ? aligned(curves) : null,
      };
    },
  });
  if (found.error) return <ErrorAlert error={found.error} title="The metric could not be read" />;
  if (!found.curves) return <Loading what="the metric" />;
  return (
    <>
      <OverlayChart title={metric} names={shown.map((job) => job.name)} curves={found.curves} />
      {jobs.length > MOST && <p className="tw-subtle">Only the first {MOST} jobs are drawn.</p>}
    </>
  );
}
