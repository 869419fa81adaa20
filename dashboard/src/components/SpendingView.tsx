import { Label } from "@patternfly/react-core/dist/dynamic/components/Label";
import ExclamationCircleIcon from "@patternfly/react-icons/dist/esm/icons/exclamation-circle-icon";
import ExclamationTriangleIcon from "@patternfly/react-icons/dist/esm/icons/exclamation-triangle-icon";
import { Bar } from "./Bar";
import { STANDINGS, type Spending } from "./cost";

const LOOKS = {
  near: { color: "orange", Icon: ExclamationTriangleIcon },
  spent: { color: "red", Icon: ExclamationCircleIcon },
} as const;

/** What something has cost, the share of its limit, and a warning where little or nothing of that is left. */
export function SpendingView({ spending }: { spending: Spending }) {
  const { text, percent, standing } = spending;
  const look = standing === "fine" ? null : LOOKS[standing];
  return (
    <>
      <div>{text}</div>
      {percent !== null && <Bar part={percent} whole={100} label={`${percent} % of the limit`} />}
      {look && (
        <Label isCompact color={look.color} icon={<look.Icon />}>
          {STANDINGS[standing]}
        </Label>
      )}
    </>
  );
}
