import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { FormSelect, FormSelectOption } from "@patternfly/react-core/dist/dynamic/components/FormSelect";
import { Title } from "@patternfly/react-core/dist/dynamic/components/Title";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ErrorAlert } from "../../components/ErrorAlert";
import { Loading } from "../../components/Loading";
import { Moment } from "../../components/Moment";
import { change, type Schemas } from "../../data/client";
import { stacksQuery } from "../../data/jobQueries";

interface Props {
  id: string;
  /** Newest first. */
  attempts: readonly Schemas["Attempt"][];
  isRunning: boolean;
}

/** Where the Python processes of the job were when somebody asked, or when it hung. */
export function Stacks({ id, attempts, isRunning }: Props) {
  const [attempt, setAttempt] = useState(attempts[0]?.attempt ?? 0);
  const queryClient = useQueryClient();
  const isKept = attempts.some((each) => each.attempt === attempt && each.hasStacks);
  const { data, error, isLoading } = useQuery({ ...stacksQuery(id, attempt), enabled: isKept });
  const take = useMutation({
    mutationFn: () => change("post", "/api/v1/jobs/{ref}/stacks", { path: { ref: id } }),
    onSuccess: (stacks) => {
      setAttempt(stacks.attempt);
      queryClient.setQueryData(stacksQuery(id, stacks.attempt).queryKey, stacks);
    },
  });
  return (
    <section className="tw-section" aria-label="Python stacks">
      <Title headingLevel="h2" size="md">
        Python stacks
      </Title>
      <div className="tw-toolbar">
        <FormSelect
          aria-label="Attempt of the stacks"
          value={attempt}
          onChange={(_, value) => setAttempt(Number(value))}
          className="tw-narrow"
        >
          {attempts.map(({ attempt: each }) => (
            <FormSelectOption key={each} value={each} label={`Attempt ${each + 1}`} />
          ))}
        </FormSelect>
        {isRunning && (
          <Button
            variant="secondary"
            isLoading={take.isPending}
            isDisabled={take.isPending}
            onClick={() => take.mutate()}
          >
            Take stacks now
          </Button>
        )}
      </div>
      {take.error && <ErrorAlert error={take.error} title="The stacks could not be taken" />}
      {isLoading && <Loading what="the stacks" />}
      {!isKept && !data && (
        <p className="tw-subtle">
          None were taken in this attempt.{" "}
          {isRunning && "They show where each process of a job is that seems to hang."}
        </p>
      )}
      {error && <ErrorAlert error={error} title="The stacks could not be read" />}
      {data && <StackList stacks={data} />}
    </section>
  );
}

function StackList({ stacks }: { stacks: Schemas["JobStacks"] }) {
  return (
    <>
      <p>
        Taken <Moment time={stacks.time} />
        {stacks.cause === "hang" ? ", when the job hung." : "."}
      </p>
      {stacks.ranks.map((rank) => (
        <details key={rank.node} open={stacks.ranks.length === 1}>
          <summary>
            {rank.node} {rank.host && `on ${rank.host}`} {rank.problem && `– ${rank.problem}`}
          </summary>
          {rank.processes.map((process) => (
            <pre key={process.pid} className="tw-pre">
              {processText(process)}
            </pre>
          ))}
        </details>
      ))}
    </>
  );
}

function processText(process: Schemas["StackProcess"]): string {
  const threads = process.threads.map((thread) => {
    const frames = thread.frames.map((frame) => `    ${frame.function} (${frame.file}:${frame.line})`);
    return [
      `  ${thread.name || "thread"}${thread.main ? " (main)" : ""}${thread.active ? ", active" : ""}`,
      ...frames,
    ].join("\n");
  });
  return [`${process.pid} ${process.command}`, process.error ? `  ${process.error}` : "", ...threads]
    .filter(Boolean)
    .join("\n");
}
