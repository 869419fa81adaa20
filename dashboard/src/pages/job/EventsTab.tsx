import { Label } from "@patternfly/react-core/dist/dynamic/components/Label";
import { Switch } from "@patternfly/react-core/dist/dynamic/components/Switch";
import ExclamationTriangleIcon from "@patternfly/react-icons/dist/esm/icons/exclamation-triangle-icon";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { EmptyPage } from "../../components/EmptyPage";
import { ErrorAlert } from "../../components/ErrorAlert";
import { Loading } from "../../components/Loading";
import { Moment } from "../../components/Moment";
import { eventsQuery } from "../../data/jobQueries";
import type { JobProps } from "./jobProps";
import { Cell, Row, Table } from "./Table";

const COLUMNS = ["When", "Type", "Reason", "About", "Message"] as const;
const SHOWN = 500;

export default function EventsTab({ job }: JobProps) {
  const { data, error, refetch } = useQuery(eventsQuery(job.metadata.id));
  const [onlyWarnings, setOnlyWarnings] = useState(false);
  if (error && !data)
    return <ErrorAlert error={error} title="The events could not be read" onRetry={() => void refetch()} />;
  if (!data) return <Loading what="the events" />;
  const wanted = data.items.filter((event) => !onlyWarnings || event.type === "Warning").reverse();
  return (
    <>
      <Switch
        label="Only warnings"
        isChecked={onlyWarnings}
        onChange={(_, isChecked) => setOnlyWarnings(isChecked)}
      />
      {wanted.length === 0 ? (
        <EmptyPage title="No events">
          {onlyWarnings ? "Nothing went wrong so far." : "Nothing has happened to the job yet."}
        </EmptyPage>
      ) : (
        <Table label="Events, newest first" columns={COLUMNS}>
          {wanted.slice(0, SHOWN).map((event) => (
            <Row key={event.seq}>
              <Cell label="When">
                <Moment time={event.time} />
              </Cell>
              <Cell label="Type">
                {event.type === "Warning" ? (
                  <Label isCompact color="orange" icon={<ExclamationTriangleIcon />}>
                    Warning
                  </Label>
                ) : (
                  event.type
                )}
              </Cell>
              <Cell label="Reason">{event.reason}</Cell>
              <Cell label="About">{event.object}</Cell>
              <Cell label="Message">{event.message}</Cell>
            </Row>
          ))}
        </Table>
      )}
      {wanted.length > SHOWN && (
        <p className="tw-subtle">
          The newest {SHOWN} of {wanted.length} events. All of them:{" "}
          <code>trainway jobs events {job.metadata.id}</code>
        </p>
      )}
    </>
  );
}
