import { useQueries, useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { EmptyPage } from "../../components/EmptyPage";
import { ErrorAlert } from "../../components/ErrorAlert";
import { Loading } from "../../components/Loading";
import { PageFrame } from "../../components/PageFrame";
import { RunCosts } from "../../components/RunCosts";
import { useNow } from "../../components/useNow";
import { get } from "../../data/client";
import { jobQuery, KEYS } from "../../data/queries";
import { value, values, type Search } from "../../data/search";
import { compared, referencesOf, type Job, type Summary } from "./comparison";
import { Comparison } from "./Comparison";

const MOST = 100;

/** Jobs side by side: `?jobs=a,b`, or all jobs of a run: `?run=NAME`. */
export default function ComparePage() {
  const search: Search = useSearch({ strict: false });
  const run = value(search, "run");
  const named = referencesOf(values(search, "jobs"));
  const members = useQuery({
    queryKey: [KEYS.runs, run],
    queryFn: ({ signal }) => get("/api/v1/runs/{run}", { path: { run }, signal }),
    enabled: run !== "",
  });
  const ids = (members.data?.jobs ?? []).map((job) => job.metadata.id);
  const all = [...new Set([...named, ...ids])];
  return (
    <PageFrame title={run ? `Compare ${run}` : "Compare jobs"}>
      {members.error && <ErrorAlert error={members.error} title="The run could not be read" />}
      {members.data && <RunCosts run={members.data} />}
      {run && members.isPending ? (
        <Loading what="the run" />
      ) : all.length === 0 ? (
        !members.error && (
          <EmptyPage title="Nothing to compare yet">
            Choose jobs in the{" "}
            <Link to="/jobs" className="tw-link">
              list of jobs
            </Link>{" "}
            and press Compare, or open a run.
          </EmptyPage>
        )
      ) : (
        <Jobs references={all.slice(0, MOST)} />
      )}
      {all.length > MOST && (
        <p className="tw-subtle">
          Only the first {MOST} of {all.length} jobs are compared.
        </p>
      )}
    </PageFrame>
  );
}

function Jobs({ references }: { references: readonly string[] }) {
  const now = useNow();
  const jobs = useQueries({ queries: references.map((ref) => jobQuery(ref)) });
  const metrics = useQueries({
    queries: references.map((ref) => ({
      queryKey: [KEYS.job, ref, "metrics", "summary"],
      queryFn: async ({ signal }: { signal: AbortSignal }) =>
        (await get("/api/v1/jobs/{ref}/metrics", { path: { ref }, query: { fields: "summary" }, signal }))
          .summary,
    })),
  });
  const failed = jobs.find((job) => job.error);
  const found = jobs.flatMap((job, index) =>
    job.data
      ? [compared(job.data as unknown as Job, (metrics[index]?.data ?? {}) as Record<string, Summary>, now)]
      : [],
  );
  const isComplete = [...jobs, ...metrics].every((each) => !each.isPending);
  return (
    <>
      {failed && <ErrorAlert error={failed.error} title="A job could not be read" />}
      {isComplete ? found.length > 0 && <Comparison jobs={found} /> : <Loading what="the jobs" />}
    </>
  );
}
