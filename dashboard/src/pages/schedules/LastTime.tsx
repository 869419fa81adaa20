import { Label } from "@patternfly/react-core/dist/dynamic/components/Label";
import CheckCircleIcon from "@patternfly/react-icons/dist/esm/icons/check-circle-icon";
import ExclamationCircleIcon from "@patternfly/react-icons/dist/esm/icons/exclamation-circle-icon";
import ForwardIcon from "@patternfly/react-icons/dist/esm/icons/forward-icon";
import { Link } from "@tanstack/react-router";
import { JobLink } from "../../components/JobLink";
import { Moment } from "../../components/Moment";
import type { Firing } from "../../data/schedules";

const LOOKS = {
  Submitted: { color: "green", Icon: CheckCircleIcon },
  Skipped: { color: "orange", Icon: ForwardIcon },
  Failed: { color: "red", Icon: ExclamationCircleIcon },
} as const;

/** What became of the last time that a schedule was due, readable without its colour. */
export function LastTime({ last }: { last: Firing | null }) {
  if (last === null) return <>–</>;
  const { color, Icon } = Object.hasOwn(LOOKS, last.result)
    ? LOOKS[last.result as keyof typeof LOOKS]
    : LOOKS.Skipped;
  return (
    <>
      <Label isCompact color={color} icon={<Icon />}>
        {last.result}
      </Label>{" "}
      <Made last={last} />
    </>
  );
}

/** When it was, with the way to what was submitted. */
function Made({ last }: { last: Firing }) {
  const moment = <Moment time={last.time} />;
  if (last.run) {
    return (
      <Link to="/jobs" search={{ run: last.run }} className="tw-link">
        {moment}
      </Link>
    );
  }
  return last.job ? <JobLink id={last.job}>{moment}</JobLink> : moment;
}
