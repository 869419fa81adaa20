import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { Title } from "@patternfly/react-core/dist/dynamic/components/Title";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { BudgetEnd } from "../../components/BudgetEnd";
import { endOf, spendingOf } from "../../components/cost";
import { DataTable } from "../../components/DataTable";
import { EmptyPage } from "../../components/EmptyPage";
import { ErrorAlert } from "../../components/ErrorAlert";
import { FactList } from "../../components/FactList";
import { JobLink } from "../../components/JobLink";
import { Loading } from "../../components/Loading";
import { Moment } from "../../components/Moment";
import { PageFrame } from "../../components/PageFrame";
import { PhaseLabel } from "../../components/PhaseLabel";
import { SpendingView } from "../../components/SpendingView";
import { useNow } from "../../components/useNow";
import { pipelineQuery } from "../../data/pipelines";
import { againFrom, countsText, durationOf, phaseOf, spanOf, tasksOf, type Task } from "./pipeline";
import { PipelineActions } from "./PipelineActions";
import { RerunDialog } from "./RerunDialog";
import { TaskGraph } from "./TaskGraph";
import "./pipelines.css";

const COLUMNS = ["Task", "Phase", "After", "Duration", "Message", "Actions"];

/** One pipeline: its tasks drawn with what they wait for, and the same as a table. */
export default function PipelinePage() {
  const { run: ref } = useParams({ from: "/pipelines/$run" });
  const { data: run, error, refetch } = useQuery(pipelineQuery(ref));
  const [from, setFrom] = useState("");
  const now = useNow();
  if (!run) {
    return (
      <PageFrame title="Pipeline">
        {error ? (
          <ErrorAlert error={error} title="The pipeline could not be read" onRetry={() => void refetch()} />
        ) : (
          <Loading what="the pipeline" />
        )}
      </PageFrame>
    );
  }
  const { metadata, spec, status } = run;
  const tasks = tasksOf(run);
  const spending = spendingOf(status, now);
  const canBegin = endOf(status.budget) === null; // the server refuses the tasks of others
  const again = from ? againFrom(tasks, from) : [];
  return (
    <PageFrame
      title={metadata.name}
      beside={<PhaseLabel phase={status.phase} />}
      actions={run.pipeline && <PipelineActions run={run} />}
    >
      {error && <ErrorAlert error={error} title="What is shown may be old" />}
      {!run.pipeline && (
        <EmptyPage title="This run is not a pipeline">Its jobs do not depend on each other.</EmptyPage>
      )}
      {run.pipeline && (
        <>
          <BudgetEnd run={run} />
          <FactList
            facts={[
              ["Id", <code key="id">{metadata.id}</code>],
              ["Tasks", countsText(run)],
              ["Runs on", spec.backend],
              ["Submitted", <Moment key="submitted" time={metadata.creationTimestamp} />],
              ["Duration", spanOf(tasks, now)],
              ["Cost", spending && <SpendingView key="cost" spending={spending} />],
            ]}
          />
          <TaskGraph tasks={tasks} />
          <Title headingLevel="h2" size="md" className="tw-section">
            Tasks
          </Title>
          <DataTable
            label="Tasks"
            columns={COLUMNS}
            sentences={[4]}
            rows={tasks.map((task) =>
              row(task, canBegin && againFrom(tasks, task.name).length > 0, now, setFrom),
            )}
          />
        </>
      )}
      {again.length > 0 && <RerunDialog run={run} from={from} again={again} onClose={() => setFrom("")} />}
    </PageFrame>
  );
}

function row(
  task: Task,
  isReady: boolean,
  now: number,
  onRerun: (task: string) => void,
): readonly [string, ...React.ReactNode[]] {
  const { name, after, job } = task;
  return [
    name,
    job ? (
      <JobLink key="task" id={job.metadata.id}>
        {name}
      </JobLink>
    ) : (
      name
    ),
    job ? <PhaseLabel key="phase" phase={phaseOf(task)} /> : "Its job was deleted",
    after.join(", ") || "–",
    durationOf(task, now) || "–",
    job?.status.message || "–",
    isReady ? (
      <Button
        key="rerun"
        size="sm"
        variant="secondary"
        aria-label={`Rerun from here: ${name}`}
        onClick={() => onRerun(name)}
      >
        Rerun from here
      </Button>
    ) : (
      "–"
    ),
  ];
}
