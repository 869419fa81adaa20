import { ToggleGroup, ToggleGroupItem } from "@patternfly/react-core/dist/dynamic/components/ToggleGroup";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { ErrorAlert } from "../../components/ErrorAlert";
import { Loading } from "../../components/Loading";
import { PageFrame } from "../../components/PageFrame";
import { documentOf, startQuery, type DraftForm } from "../../data/drafts";
import { value, type Search } from "../../data/search";
import "./create.css";
import { textOf } from "./draftMerge";
import { DraftSides } from "./DraftSides";
import { completed, exampleOf, KINDS, type Kind } from "./fields";
import { leftDraft } from "./useDraft";

/** A new job, or one that is submitted again with changes: `?from=JOB`. */
export default function CreatePage() {
  const search: Search = useSearch({ strict: false });
  const from = value(search, "from");
  if (from) return <Again job={from} />;
  const backend = value(search, "backend") || "local";
  return <New kind={kindOf(value(search, "kind"))} runtime={value(search, "runtime")} backend={backend} />;
}

interface NewProps {
  kind: Kind;
  /** The runtime that was chosen elsewhere; empty: the one of the example. */
  runtime: string;
  backend: string;
}

function New({ kind, runtime, backend }: NewProps) {
  const navigate = useNavigate();
  const name = ["new", kind, runtime].filter(Boolean).join(" ");
  const { data, error, refetch } = useQuery({
    queryKey: ["draft-start", kind, runtime, backend],
    queryFn: async ({ signal }) => {
      const form = exampleOf(kind, backend, runtime);
      return { form, text: textOf([await documentOf(form, signal)]), backend };
    },
    staleTime: Infinity,
  });
  const start = leftDraft(name) ?? data;
  const chosen = KINDS.find((item) => item.kind === kind);
  return (
    <PageFrame title="Create a job">
      <div className="tw-draft-kinds">
        <ToggleGroup aria-label="Kind of job">
          {KINDS.map((item) => (
            <ToggleGroupItem
              key={item.kind}
              text={item.title}
              isSelected={item.kind === kind}
              onChange={() => void navigate({ to: "/create", search: { kind: item.kind } })}
            />
          ))}
        </ToggleGroup>
        <span className="tw-subtle">{chosen?.meaning}</span>
      </div>
      {error && (
        <ErrorAlert error={error} title="The form could not be made" onRetry={() => void refetch()} />
      )}
      {start ? (
        <DraftSides key={name} name={name} start={start} rerun="" others={[]} />
      ) : (
        !error && <Loading what="the form" />
      )}
    </PageFrame>
  );
}

function Again({ job }: { job: string }) {
  const name = `again ${job}`;
  const { data, error, refetch } = useQuery(startQuery(job));
  const first = data && {
    form: data.form ? completed(data.form as DraftForm) : null,
    text: textOf(data.documents),
    backend: data.backend,
  };
  const start = leftDraft(name) ?? first;
  return (
    <PageFrame title="Rerun with changes">
      {error && <ErrorAlert error={error} title="The job could not be read" onRetry={() => void refetch()} />}
      {start && data ? (
        <DraftSides key={name} name={name} start={start} rerun={job} others={data.others} />
      ) : (
        !error && <Loading what="the job" />
      )}
    </PageFrame>
  );
}

function kindOf(text: string): Kind {
  return KINDS.find((item) => item.kind === text)?.kind ?? "TrainJob";
}
