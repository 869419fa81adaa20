import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { useParams, useSearch, useNavigate } from "@tanstack/react-router";
import { EmptyPage } from "../../components/EmptyPage";
import { ErrorAlert } from "../../components/ErrorAlert";
import { Loading } from "../../components/Loading";
import { PageFrame } from "../../components/PageFrame";
import { toYaml } from "../../components/toYaml";
import { value, type Search } from "../../data/search";
import { factsOf, type RuntimeFacts } from "./runtime";
import { useRuntimes } from "./useRuntimes";
import "./runtimes.css";

/** One runtime with its template. */
export default function RuntimePage() {
  const { runtime: name = "" }: { runtime?: string } = useParams({ strict: false });
  const search: Search = useSearch({ strict: false });
  const backend = value(search, "backend");
  const navigate = useNavigate();
  const { runtimes, error, refetch } = useRuntimes(backend);
  const found = runtimes?.find((each) => factsOf(each).name === name);
  const use = () =>
    void navigate({
      to: "/create",
      search: { kind: "TrainJob", runtime: name, ...(backend ? { backend } : {}) },
    });
  return (
    <PageFrame
      title={name}
      actions={
        <Button isDisabled={!found} onClick={use}>
          Use it
        </Button>
      }
    >
      {Boolean(error) && <ErrorAlert error={error} title="The runtime could not be read" onRetry={refetch} />}
      {!runtimes && !error && <Loading what="the runtime" />}
      {runtimes && !found && (
        <EmptyPage title="There is no such runtime">
          {backend ? `${backend} has none of that name.` : "It is not one of those that are built in."}
        </EmptyPage>
      )}
      {found !== undefined && (
        <>
          <Facts facts={factsOf(found)} backend={backend} />
          <pre className="tw-template" tabIndex={0} aria-label="Template">
            {toYaml(found)}
          </pre>
        </>
      )}
    </PageFrame>
  );
}

function Facts({ facts, backend }: { facts: RuntimeFacts; backend: string }) {
  const rows = [
    ["Kind", facts.kind],
    ["From", backend || "built in"],
    ["Framework", facts.framework || "–"],
    ["Policy", facts.policy || "none"],
    ["Nodes", facts.nodes || "–"],
    ["Images", facts.images.join(", ") || "–"],
  ] as const;
  return (
    <dl className="tw-runtime-facts">
      {rows.map(([term, text]) => (
        <div key={term}>
          <dt className="tw-subtle">{term}</dt>
          <dd className="tw-break">{text}</dd>
        </div>
      ))}
    </dl>
  );
}
