import { FormSelect, FormSelectOption } from "@patternfly/react-core/dist/dynamic/components/FormSelect";
import { ToggleGroup, ToggleGroupItem } from "@patternfly/react-core/dist/dynamic/components/ToggleGroup";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ErrorAlert } from "../../../components/ErrorAlert";
import { Loading } from "../../../components/Loading";
import { compiledQuery, namesakesQuery } from "../../../data/jobQueries";
import { jobQuery } from "../../../data/queries";
import type { JobProps } from "../jobProps";
import { diffLines, hasChanges } from "./diff";
import { toYaml } from "../../../components/toYaml";

type View = "written" | "compiled" | "difference";
const VIEWS: readonly (readonly [View, string])[] = [
  ["written", "As written"],
  ["compiled", "Compiled"],
  ["difference", "Difference to another run"],
];

function documents(objects: unknown[]): string {
  return objects.map(toYaml).join("---\n");
}

export default function YamlTab({ job }: JobProps) {
  const [view, setView] = useState<View>("written");
  const written = documents(job.spec.objects ?? []);
  return (
    <>
      <ToggleGroup aria-label="Which YAML">
        {VIEWS.map(([name, text]) => (
          <ToggleGroupItem key={name} text={text} isSelected={view === name} onChange={() => setView(name)} />
        ))}
      </ToggleGroup>
      {view === "written" && <Code text={written} label="What was written" />}
      {view === "compiled" && <Compiled id={job.metadata.id} />}
      {view === "difference" && <Difference job={job} written={written} />}
    </>
  );
}

function Code({ text, label }: { text: string; label: string }) {
  return (
    <pre className="tw-pre" tabIndex={0} aria-label={label}>
      {text}
    </pre>
  );
}

function Compiled({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(compiledQuery(id));
  if (error) return <ErrorAlert error={error} title="It could not be read" onRetry={() => void refetch()} />;
  if (!data) return <Loading what="what it was compiled to" />;
  return <Code text={documents([data.jobSet, ...data.objects])} label="What it was compiled to" />;
}

const SIGNS = { same: " ", added: "+", removed: "-" } as const;

/** What was written for this job, against what was written for another one of the same name. */
function Difference({ job, written }: JobProps & { written: string }) {
  const { data } = useQuery(namesakesQuery(job.metadata.name));
  const others = (data?.items ?? []).filter((each) => each.metadata.id !== job.metadata.id);
  const [chosen, setChosen] = useState("");
  const earlier = others.find((each) => each.metadata.creationTimestamp < job.metadata.creationTimestamp);
  const other = chosen || (earlier ?? others[0])?.metadata.id || "";
  const { data: found } = useQuery({ ...jobQuery(other), enabled: other !== "" });
  if (!data) return <Loading what="other runs" />;
  if (others.length === 0) {
    return (
      <p className="tw-gap">
        All attempts of a job run what is under “As written”. No other job is called {job.metadata.name}:
        rerun it with changes, and the difference is shown here.
      </p>
    );
  }
  const lines = found ? diffLines(documents(found.spec.objects ?? []), written) : [];
  return (
    <>
      <FormSelect aria-label="Other run" value={other} onChange={(_, id) => setChosen(id)} className="tw-gap">
        {others.map((each) => (
          <FormSelectOption
            key={each.metadata.id}
            value={each.metadata.id}
            label={`${each.metadata.id}, ${new Date(each.metadata.creationTimestamp).toLocaleString()}, ${each.status.phase}`}
          />
        ))}
      </FormSelect>
      {found && !hasChanges(lines) && <p>Both are the same.</p>}
      {hasChanges(lines) && (
        <pre className="tw-pre" tabIndex={0} aria-label="Difference">
          {lines.map((line, index) => (
            <span key={index} className={`tw-diff-${line.kind}`}>
              {`${SIGNS[line.kind]} ${line.text}\n`}
            </span>
          ))}
        </pre>
      )}
    </>
  );
}
