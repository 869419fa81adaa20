import { Title } from "@patternfly/react-core/dist/dynamic/components/Title";
import { useQuery } from "@tanstack/react-query";
import { Bar } from "../../components/Bar";
import { DataTable } from "../../components/DataTable";
import { ErrorAlert } from "../../components/ErrorAlert";
import { money } from "../../components/format";
import { budgetsQuery } from "../../data/costs";

const STATES: Record<string, string> = {
  fine: "fine",
  near: "80 % or more is spent",
  spent: "spent: no new jobs begin",
};

/** What users and labels may spend in this month, and how much they have. */
export function BudgetTable() {
  const { data, error, refetch } = useQuery(budgetsQuery);
  return (
    <>
      <Title headingLevel="h2" size="md" className="tw-section">
        Budgets of this month
      </Title>
      {error && (
        <ErrorAlert error={error} title="The budgets could not be read" onRetry={() => void refetch()} />
      )}
      {data?.length === 0 && (
        <p className="tw-subtle">
          There is none. <code>trainway budgets set NAME --user USER --monthly 200</code> makes one.
        </p>
      )}
      {data && data.length > 0 && (
        <DataTable
          label="Budgets"
          columns={["Budget", "Of", "Monthly", "Spent", "Used", "State"]}
          numbers={[2, 3]}
          rows={data.map((budget) => [
            budget.name,
            budget.name,
            budget.user ? `user ${budget.user}` : (budget.label ?? ""),
            money(budget.monthly),
            money(budget.spent),
            <Bar
              key="used"
              part={budget.spent}
              whole={budget.monthly}
              label={`${Math.floor((100 * budget.spent) / budget.monthly)} %`}
            />,
            STATES[budget.state] ?? budget.state,
          ])}
        />
      )}
    </>
  );
}
