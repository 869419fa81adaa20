import { Alert } from "@patternfly/react-core/dist/dynamic/components/Alert";
import { endOf } from "./cost";
import { money } from "./format";
import { Hint } from "./Hint";
import { Moment } from "./Moment";
import type { Schemas } from "../data/client";

/** Why a run was ended of which all is spent that it may cost, and what to do; nothing where it was not. */
export function BudgetEnd({ run }: { run: Pick<Schemas["Run"], "metadata" | "status"> }) {
  const end = endOf(run.status.budget);
  if (!end) return null;
  return (
    <Alert variant="danger" isInline title="The run was ended by its limit of costs" component="h2">
      <p>
        All of the {money(end.limit)} that it may cost was spent <Moment time={end.time} />. Jobs that ran
        were ended, and those that waited do not begin.
      </p>
      <p>
        <Hint
          text={`\`trainway runs rerun ${run.metadata.name}\` runs all of it again, with the same limit`}
        />
        .
      </p>
    </Alert>
  );
}
