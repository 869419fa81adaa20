import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Bar } from "../../components/Bar";
import { csvText, download } from "../../components/csv";
import { DataTable } from "../../components/DataTable";
import { EmptyPage } from "../../components/EmptyPage";
import { ErrorAlert } from "../../components/ErrorAlert";
import { figure } from "../../components/format";
import { Loading } from "../../components/Loading";
import { PageFrame } from "../../components/PageFrame";
import { SumControls } from "../../components/SumControls";
import { get } from "../../data/client";
import { KEYS } from "../../data/queries";
import { value, type Search } from "../../data/search";
import { GROUPS, groupOf, usageRows } from "./usage";

/** GPU-hours and CPU-hours, added up. */
export default function UsagePage() {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const by = groupOf(value(search, "by"));
  const key = value(search, "key");
  const since = value(search, "since");
  const isAsked = by !== "label" || key !== "";
  const { data, error, refetch } = useQuery({
    queryKey: [KEYS.overview, "usage", by, key, since],
    queryFn: ({ signal }) =>
      get("/api/v1/usage", { query: { by, key: by === "label" ? key : "", since }, signal }),
    enabled: isAsked,
  });
  const choose = (change: Search) =>
    void navigate({ to: "/usage", search: { ...search, ...change }, replace: true });
  const title = GROUPS.find((group) => group.by === by)?.title ?? "";
  const most = Math.max(0, ...(data?.items ?? []).map((item) => item.gpuHours || item.cpuHours));
  const save = () => data && download(`usage-by-${by}.csv`, csvText(usageRows(key || by, data.items)));
  return (
    <PageFrame
      title="Usage"
      actions={
        <Button variant="secondary" isDisabled={!data?.items.length} onClick={save}>
          Download CSV
        </Button>
      }
    >
      <SumControls groups={GROUPS} by={by} label={key} since={since} onChoose={choose} />
      {error && (
        <ErrorAlert error={error} title="The usage could not be read" onRetry={() => void refetch()} />
      )}
      {!isAsked ? (
        <EmptyPage title="Which label?">Write the key of a label, such as team.</EmptyPage>
      ) : !data ? (
        !error && <Loading what="the usage" />
      ) : data.items.length === 0 ? (
        <EmptyPage title="Nothing was used">
          No job has run in this time. Hours count once a job has run.
        </EmptyPage>
      ) : (
        <DataTable
          label={`Usage by ${by}`}
          columns={[title, "Jobs", "GPU-hours", "CPU-hours", "Share"]}
          numbers={[1, 2, 3]}
          rows={[
            ...data.items.map(
              (item) =>
                [
                  `=${item.name}`,
                  item.name || "(none)",
                  item.jobs,
                  figure(item.gpuHours),
                  figure(item.cpuHours),
                  <Bar key="bar" part={item.gpuHours || item.cpuHours} whole={most} label="" />,
                ] as const,
            ),
            [
              "total",
              <strong key="total">Total</strong>,
              data.total.jobs,
              figure(data.total.gpuHours),
              figure(data.total.cpuHours),
              "",
            ],
          ]}
        />
      )}
      <p className="tw-subtle">
        Hours are what jobs requested, times the time in which they ran. Days are those of UTC.
      </p>
    </PageFrame>
  );
}
