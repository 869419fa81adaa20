import { Bar } from "../../components/Bar";
import { DataTable } from "../../components/DataTable";
import { money } from "../../components/format";
import { JobLink } from "../../components/JobLink";
import type { CostGroup, CostSum } from "../../data/costs";
import { rowKey } from "./costs";

interface Props {
  by: CostGroup;
  title: string;
  items: readonly CostSum[];
  total: CostSum;
}

/** What each has cost, and all together; a job is one job, and leads to its page. */
export function CostTable({ by, title, items, total }: Props) {
  const most = Math.max(0, ...items.map((item) => item.cost ?? 0));
  const hasJobs = by !== "job";
  const jobs = (sum: CostSum) => (hasJobs ? [sum.jobs] : []);
  const name = (item: CostSum) =>
    by === "job" && item.id ? (
      <JobLink key="job" id={item.id}>
        {item.name}
      </JobLink>
    ) : (
      item.name || "(none)"
    );
  return (
    <DataTable
      label={`Costs by ${by}`}
      columns={[title, ...(hasJobs ? ["Jobs"] : []), "Cost", "Saved", "Share"]}
      numbers={hasJobs ? [1, 2, 3] : [1, 2]}
      rows={[
        ...items.map(
          (item) =>
            [
              rowKey(item),
              name(item),
              ...jobs(item),
              money(item.cost ?? 0),
              money(item.saved ?? 0),
              <Bar key="bar" part={item.cost ?? 0} whole={most} label="" />,
            ] as const,
        ),
        [
          "total",
          <strong key="total">Total</strong>,
          ...jobs(total),
          money(total.cost ?? 0),
          money(total.saved ?? 0),
          "",
        ],
      ]}
    />
  );
}
