import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { EmptyPage } from "../../components/EmptyPage";
import { ErrorAlert } from "../../components/ErrorAlert";
import { count } from "../../components/format";
import { Loading } from "../../components/Loading";
import { PageFrame } from "../../components/PageFrame";
import { SumControls } from "../../components/SumControls";
import { costsQuery } from "../../data/costs";
import { value, type Search } from "../../data/search";
import { BudgetTable } from "./BudgetTable";
import { CostTable } from "./CostTable";
import { costly, GROUPS, groupOf } from "./costs";

/** What jobs and clusters have cost, and what they may. */
export default function CostsPage() {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const by = groupOf(value(search, "by"));
  const key = value(search, "key");
  const since = value(search, "since");
  const { data, error, refetch } = useQuery(costsQuery(by, key, since));
  const choose = (change: Search) =>
    void navigate({ to: "/costs", search: { ...search, ...change }, replace: true });
  const title = GROUPS.find((group) => group.by === by)?.title ?? "";
  const items = costly(data?.items ?? [], by);
  return (
    <PageFrame title="Costs">
      <SumControls groups={GROUPS} by={by} label={key} since={since} onChoose={choose} />
      {error && (
        <ErrorAlert error={error} title="The costs could not be read" onRetry={() => void refetch()} />
      )}
      {by === "label" && key === "" ? (
        <EmptyPage title="Which label?">Write the key of a label, such as team.</EmptyPage>
      ) : !data ? (
        !error && <Loading what="the costs" />
      ) : items.length === 0 ? (
        <EmptyPage title="There are no costs yet">
          Your own machines cost what the section prices of config.yaml says.
        </EmptyPage>
      ) : (
        <CostTable by={by} title={title} items={items} total={data.total} />
      )}
      {data?.leftOut ? (
        <p className="tw-subtle">Not shown, and only in the total: {count(data.leftOut, "job")}.</p>
      ) : null}
      <BudgetTable />
      <p className="tw-subtle">
        Running jobs count up to now. Saved is what the same machines would have cost more on demand. Days are
        those of UTC.
      </p>
    </PageFrame>
  );
}
