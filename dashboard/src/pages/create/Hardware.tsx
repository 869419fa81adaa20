import { FormHelperText } from "@patternfly/react-core/dist/dynamic/components/Form";
import { HelperText, HelperTextItem } from "@patternfly/react-core/dist/dynamic/components/HelperText";
import { useQuery } from "@tanstack/react-query";
import { amountsText, gpuText } from "../../components/amounts";
import { placesQuery } from "../../data/places";

/** What the backend says it has, and what is free of it. */
export function Hardware({ backend, problems }: { backend: string; problems: readonly string[] }) {
  const { data } = useQuery(placesQuery(backend));
  const place = data?.[0];
  const wrong = (place?.checks ?? []).filter((check) => !check.ok && place?.capacity === null);
  const said = [...problems, ...wrong.map((check) => `${check.detail}${check.fix ? ` (${check.fix})` : ""}`)];
  const capacity = place?.capacity;
  return (
    <FormHelperText>
      <HelperText isLiveRegion>
        {said.map((problem) => (
          <HelperTextItem key={problem} variant="error" className="tw-break">
            {problem}
          </HelperTextItem>
        ))}
        {said.length === 0 && (
          <HelperTextItem>
            {capacity
              ? `Free now: ${amountsText(capacity.free, capacity.total)}`
              : data
                ? "It does not say what it has."
                : "Asking what it has …"}
          </HelperTextItem>
        )}
        {capacity?.pools.map((pool) => (
          <HelperTextItem key={pool.name}>
            {pool.name}: {gpuText(pool)}
          </HelperTextItem>
        ))}
      </HelperText>
    </FormHelperText>
  );
}
