import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { Form, FormGroup } from "@patternfly/react-core/dist/dynamic/components/Form";
import { FormSelect, FormSelectOption } from "@patternfly/react-core/dist/dynamic/components/FormSelect";
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { ErrorAlert } from "../../components/ErrorAlert";
import { PageFrame } from "../../components/PageFrame";
import { useDebounced } from "../../components/useDebounced";
import { checkDraft, freshKey } from "../../data/drafts";
import { backendsQuery } from "../../data/places";
import { create, cronQuery, schedulesQuery, type Times } from "../../data/schedules";
import "../create/create.css";
import { Findings } from "../create/Findings";
import { YamlEditor } from "../create/YamlEditor";
import { TimesFields } from "./TimesFields";

const PAUSE = 400;
const EXAMPLE = 'name: nightly\nresources:\n  cpus: 1\nrun: |\n  echo "it is $(date)"\n';

/** A schedule that somebody writes: its times in fields, its job as text; both are checked meanwhile. */
export default function NewSchedulePage() {
  const [times, setTimes] = useState<Times>({
    name: "",
    cron: "0 3 * * *",
    timezone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
    catchUp: "once",
    overlap: "forbid",
  });
  const [text, setText] = useState(EXAMPLE);
  const [backend, setBackend] = useState("local");
  const backends = useQuery(backendsQuery).data ?? [backend];
  const cron = useTimes(times);
  const draft = useText(text, backend);
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const sent = JSON.stringify([times, text, backend]);
  const key = useMemo(() => ({ of: sent, key: freshKey() }), [sent]).key;
  const creating = useMutation({
    mutationFn: async () => create(times, await checkDraft(text, backend, ""), backend, key),
    onSuccess: async () => {
      await queryClient.invalidateQueries(schedulesQuery);
      await navigate({ to: "/schedules" });
    },
  });
  const errors = draft.data?.errors ?? [];
  const marked = new Set(errors.flatMap((item) => (item.line === null ? [] : [item.line])));
  const isReady = draft.isSettled && errors.length === 0 && cron.isSettled && cron.data?.problem === "";
  return (
    <PageFrame title="New schedule">
      <div className="tw-draft">
        <Form className="tw-draft-form" onSubmit={(event) => event.preventDefault()}>
          <TimesFields
            times={times}
            report={cron.data}
            onChange={(change) => setTimes({ ...times, ...change })}
          />
          <FormGroup label="Where it runs" fieldId="schedule-backend">
            <FormSelect id="schedule-backend" value={backend} onChange={(_, chosen) => setBackend(chosen)}>
              {backends.map((name) => (
                <FormSelectOption key={name} value={name} label={name} />
              ))}
            </FormSelect>
          </FormGroup>
        </Form>
        <div className="tw-draft-text">
          <YamlEditor text={text} marked={marked} onWrite={setText} />
          <div aria-live="polite" className="tw-draft-report">
            {draft.error && <ErrorAlert error={draft.error} title="The job could not be checked" />}
            {draft.data && <Findings report={draft.data} />}
          </div>
        </div>
      </div>
      {creating.error && <ErrorAlert error={creating.error} title="The schedule was not created" />}
      <div className="tw-draft-actions">
        <Button
          variant="primary"
          isDisabled={!isReady || creating.isPending}
          isLoading={creating.isPending}
          onClick={() => creating.mutate()}
        >
          Create
        </Button>
      </div>
    </PageFrame>
  );
}

/** What the server says of the times that are written. */
function useTimes({ cron, timezone }: Times) {
  const asked = useDebounced(`${cron}\n${timezone}`, PAUSE);
  const [text = "", zone = ""] = asked.split("\n");
  const found = useQuery({ ...cronQuery(text, zone), placeholderData: keepPreviousData });
  const isSettled = asked === `${cron}\n${timezone}` && found.isSuccess && !found.isPlaceholderData;
  return { data: found.data, isSettled };
}

/** What the server says of the job that is written. */
function useText(text: string, backend: string) {
  const shown = useDebounced(text, PAUSE);
  const found = useQuery({
    queryKey: ["draft", shown, backend, ""],
    queryFn: ({ signal }) => checkDraft(shown, backend, "", signal),
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
  const isSettled = shown === text && found.isSuccess && !found.isPlaceholderData;
  return { data: found.data, error: found.error, isSettled };
}
