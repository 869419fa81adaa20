import { FormGroup, FormHelperText } from "@patternfly/react-core/dist/dynamic/components/Form";
import { FormSelect, FormSelectOption } from "@patternfly/react-core/dist/dynamic/components/FormSelect";
import { HelperText, HelperTextItem } from "@patternfly/react-core/dist/dynamic/components/HelperText";
import { TextInput } from "@patternfly/react-core/dist/dynamic/components/TextInput";
import type { Schemas } from "../../data/client";
import type { CatchUp, Overlap, Times } from "../../data/schedules";
import { CATCH_UP, OVERLAP, wallTime } from "./schedule";

interface Props {
  times: Times;
  /** What the server says of the times; none: it has not answered yet. */
  report: Schemas["CronReport"] | undefined;
  onChange: (change: Partial<Times>) => void;
}

/** When the job is to run, and what becomes of what gets in the way. */
export function TimesFields({ times, report, onChange }: Props) {
  const wrong = (field: string) => report !== undefined && report.field === field;
  return (
    <>
      <FormGroup label="Times" fieldId="schedule-cron" isRequired>
        <TextInput
          id="schedule-cron"
          value={times.cron}
          placeholder="0 3 * * *"
          validated={wrong("cron") ? "error" : "default"}
          aria-describedby="schedule-cron-help"
          onChange={(_, cron) => onChange({ cron })}
        />
        <Help id="schedule-cron-help" report={report} timezone={times.timezone} field="cron" />
      </FormGroup>
      <FormGroup label="Time zone" fieldId="schedule-timezone">
        <TextInput
          id="schedule-timezone"
          value={times.timezone}
          list="schedule-zones"
          validated={wrong("timezone") ? "error" : "default"}
          aria-describedby="schedule-timezone-help"
          onChange={(_, timezone) => onChange({ timezone })}
        />
        <datalist id="schedule-zones">
          {Intl.supportedValuesOf("timeZone").map((zone) => (
            <option key={zone} value={zone} />
          ))}
        </datalist>
        <Help id="schedule-timezone-help" report={report} timezone={times.timezone} field="timezone" />
      </FormGroup>
      <FormGroup label="Name" fieldId="schedule-name">
        <TextInput
          id="schedule-name"
          value={times.name}
          placeholder="that of the job"
          onChange={(_, name) => onChange({ name })}
        />
      </FormGroup>
      <FormGroup label="Times that were missed" fieldId="schedule-catch-up">
        <FormSelect
          id="schedule-catch-up"
          value={times.catchUp}
          onChange={(_, value) => onChange({ catchUp: value as CatchUp })}
        >
          {CATCH_UP.map((choice) => (
            <FormSelectOption key={choice.value} {...choice} />
          ))}
        </FormSelect>
      </FormGroup>
      <FormGroup label="While the job before has not ended" fieldId="schedule-overlap">
        <FormSelect
          id="schedule-overlap"
          value={times.overlap}
          onChange={(_, value) => onChange({ overlap: value as Overlap })}
        >
          {OVERLAP.map((choice) => (
            <FormSelectOption key={choice.value} {...choice} />
          ))}
        </FormSelect>
      </FormGroup>
    </>
  );
}

interface HelpProps {
  id: string;
  report: Schemas["CronReport"] | undefined;
  timezone: string;
  field: "cron" | "timezone";
}

/** What is wrong with a field; below the times, else when they are due next. */
function Help({ id, report, timezone, field }: HelpProps) {
  const isWrong = report?.field === field;
  const next = field === "cron" && !report?.problem ? (report?.next ?? []) : [];
  return (
    <FormHelperText>
      <HelperText id={id} isLiveRegion>
        {isWrong && (
          <HelperTextItem variant="error" className="tw-break">
            {report.problem}
            {report.hint && `: ${report.hint}`}
          </HelperTextItem>
        )}
        {next.map((moment, index) => (
          <HelperTextItem key={moment}>
            {index === 0 ? "Next" : "then"}: {wallTime(moment, timezone)}
          </HelperTextItem>
        ))}
      </HelperText>
    </FormHelperText>
  );
}
