import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { spendingOf } from "../../components/cost";
import { DataTable } from "../../components/DataTable";
import { EmptyPage } from "../../components/EmptyPage";
import { ErrorAlert } from "../../components/ErrorAlert";
import { FactList } from "../../components/FactList";
import { elapsed } from "../../components/format";
import { JobLink } from "../../components/JobLink";
import { Loading } from "../../components/Loading";
import { Moment } from "../../components/Moment";
import { PageFrame } from "../../components/PageFrame";
import { PhaseLabel } from "../../components/PhaseLabel";
import { SpendingView } from "../../components/SpendingView";
import { useNow } from "../../components/useNow";
import { jobQuery } from "../../data/queries";
import { membersOf } from "./group";
import { GroupGraph } from "./GroupGraph";
import "./pipelines.css";

const COLUMNS = ["Task", "Part", "Nodes", "Phase"];

/** One job group: the tasks that run side by side, drawn and as a table. */
export default function GroupPage() {
  const { job: ref } = useParams({ from: "/pipelines/groups/$job" });
  const { data: job, error, refetch } = useQuery(jobQuery(ref));
  const now = useNow();
  if (!job) {
    return (
      <PageFrame title="Job group">
        {error ? (
          <ErrorAlert error={error} title="The group could not be read" onRetry={() => void refetch()} />
        ) : (
          <Loading what="the group" />
        )}
      </PageFrame>
    );
  }
  const { metadata, spec, status } = job;
  const members = membersOf(job);
  const spending = spendingOf(status, now);
  return (
    <PageFrame title={metadata.name} beside={<PhaseLabel phase={status.phase} />}>
      {error && <ErrorAlert error={error} title="What is shown may be old" />}
      {members.length === 0 ? (
        <EmptyPage title="This job is not a group">Its tasks do not run side by side.</EmptyPage>
      ) : (
        <>
          <FactList
            facts={[
              [
                "Job",
                <JobLink key="job" id={metadata.id}>
                  {metadata.id}
                </JobLink>,
              ],
              ["Runs on", spec.backend],
              ["Submitted", <Moment key="submitted" time={metadata.creationTimestamp} />],
              ["Duration", status.startTime ? elapsed(status.startTime, status.completionTime, now) : ""],
              ["Cost", spending && <SpendingView key="cost" spending={spending} />],
            ]}
          />
          <GroupGraph members={members} />
          <DataTable
            label="Tasks"
            columns={COLUMNS}
            rows={members.map(({ name, isPrimary, nodes, phase }) => [
              name,
              name,
              isPrimary ? "Primary" : "Auxiliary",
              nodes,
              phase,
            ])}
          />
        </>
      )}
    </PageFrame>
  );
}
