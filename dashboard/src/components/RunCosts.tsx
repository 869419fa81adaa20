import type { Schemas } from "../data/client";
import { BudgetEnd } from "./BudgetEnd";
import { spendingOf } from "./cost";
import { FactList } from "./FactList";
import { SpendingView } from "./SpendingView";
import { useNow } from "./useNow";

/** What all jobs of a run have cost together; nothing where there is neither a price nor a limit. */
export function RunCosts({ run }: { run: Pick<Schemas["Run"], "metadata" | "status"> }) {
  const spending = spendingOf(run.status, useNow());
  if (!spending) return null;
  return (
    <>
      <BudgetEnd run={run} />
      <FactList facts={[["Cost of the run", <SpendingView key="cost" spending={spending} />]]} />
    </>
  );
}
