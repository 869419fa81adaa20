import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { FormSelect, FormSelectOption } from "@patternfly/react-core/dist/dynamic/components/FormSelect";
import { Label } from "@patternfly/react-core/dist/dynamic/components/Label";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { csvText, download } from "../../components/csv";
import { DataTable } from "../../components/DataTable";
import { duration, figure } from "../../components/format";
import { JobLink } from "../../components/JobLink";
import { PhaseLabel } from "../../components/PhaseLabel";
import { value, type Search } from "../../data/search";
import { best, differing, metricNames, usualGoal, type Compared, type Goal } from "./comparison";
import { MetricChart } from "./MetricChart";

/** The table and the chart of jobs. */
export function Comparison({ jobs }: { jobs: readonly Compared[] }) {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const choose = (change: Search) =>
    void navigate({ to: "/compare", search: { ...search, ...change }, replace: true });
  const metrics = metricNames(jobs);
  const asked = value(search, "metric");
  const metric = metrics.includes(asked) ? asked : (metrics[0] ?? "");
  const goal: Goal =
    value(search, "goal") === "min" ? "min" : value(search, "goal") === "max" ? "max" : usualGoal(metric);
  const winner = metric ? best(jobs, metric, goal) : "";
  const parameters = differing(jobs);
  const columns = [
    "Job",
    "Phase",
    ...parameters.map((name) => `${name}=`),
    ...metrics.flatMap((name) => [`${name} last`, `${name} min`, `${name} max`]),
    "Duration",
    "GPU-hours",
    "End",
  ];
  const figures = (job: Compared) =>
    metrics.flatMap((name) => {
      const found = job.metrics[name];
      return [found?.last, found?.minimum, found?.maximum].map((number) => number ?? "");
    });
  const firstNumber = 2 + parameters.length;
  const numbers = Array.from({ length: metrics.length * 3 + 2 }, (_, index) => firstNumber + index);
  const plain = (job: Compared) => [
    job.name,
    job.phase,
    ...parameters.map((name) => job.parameters[name] ?? ""),
    ...figures(job),
    job.seconds ?? "",
    job.gpuHours,
    job.end,
  ];
  return (
    <>
      <div className="tw-controls">
        {metrics.length > 0 && (
          <>
            <FormSelect
              aria-label="Objective"
              value={metric}
              onChange={(_, chosen) => choose({ metric: chosen, goal: "" })}
            >
              {metrics.map((name) => (
                <FormSelectOption key={name} value={name} label={name} />
              ))}
            </FormSelect>
            <FormSelect
              aria-label="What is best"
              value={goal}
              onChange={(_, chosen) => choose({ goal: chosen })}
            >
              <FormSelectOption value="min" label="the smallest is best" />
              <FormSelectOption value="max" label="the largest is best" />
            </FormSelect>
          </>
        )}
        <Button
          variant="secondary"
          onClick={() => download("comparison.csv", csvText([columns, ...jobs.map(plain)]))}
        >
          Download CSV
        </Button>
      </div>
      <DataTable
        label="Comparison"
        columns={columns}
        numbers={numbers}
        rows={jobs.map((job) => [
          job.id,
          <>
            <JobLink id={job.id}>{job.name}</JobLink>{" "}
            {job.id === winner && (
              <Label isCompact color="green">
                best
              </Label>
            )}
          </>,
          <PhaseLabel key="phase" phase={job.phase} />,
          ...parameters.map((name) => job.parameters[name] ?? ""),
          ...figures(job).map((number) => (typeof number === "number" ? figure(number) : "–")),
          job.seconds === null ? "–" : duration(job.seconds),
          figure(job.gpuHours),
          job.end,
        ])}
      />
      {parameters.length === 0 && <p className="tw-subtle">These jobs have no parameters that differ.</p>}
      {metric ? (
        <>
          <h2 className="tw-section">{metric}</h2>
          <MetricChart metric={metric} jobs={jobs} />
        </>
      ) : (
        <p className="tw-subtle">None of these jobs has reported a metric.</p>
      )}
    </>
  );
}
