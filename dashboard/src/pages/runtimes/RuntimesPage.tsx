import { FormSelect, FormSelectOption } from "@patternfly/react-core/dist/dynamic/components/FormSelect";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { DataTable } from "../../components/DataTable";
import { EmptyPage } from "../../components/EmptyPage";
import { ErrorAlert } from "../../components/ErrorAlert";
import { Loading } from "../../components/Loading";
import { PageFrame } from "../../components/PageFrame";
import { backendsQuery } from "../../data/places";
import { value, type Search } from "../../data/search";
import { factsOf } from "./runtime";
import { useRuntimes } from "./useRuntimes";

const COLUMNS = ["Name", "Framework", "Policy", "Nodes", "Images", "Create"] as const;

/** The runtimes that a TrainJob can name: those that are built in, or those of a cluster. */
export default function RuntimesPage() {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const backend = value(search, "backend");
  const names = useQuery(backendsQuery).data ?? [];
  const { runtimes, error, refetch } = useRuntimes(backend);
  const choose = (chosen: string) =>
    void navigate({ to: "/runtimes", search: { backend: chosen || undefined }, replace: true });
  return (
    <PageFrame title="Runtimes">
      {(names.length > 1 || backend !== "") && (
        <div className="tw-controls">
          <FormSelect aria-label="Runtimes of" value={backend} onChange={(_, chosen) => choose(chosen)}>
            <FormSelectOption value="" label="Built in" />
            {names.map((name) => (
              <FormSelectOption key={name} value={name} label={`Of ${name}`} />
            ))}
          </FormSelect>
        </div>
      )}
      {Boolean(error) && (
        <ErrorAlert error={error} title="The runtimes could not be read" onRetry={refetch} />
      )}
      {!runtimes && !error && <Loading what="the runtimes" />}
      {runtimes?.length === 0 && (
        <EmptyPage title={`${backend} has no runtimes of its own`}>
          The built-in runtimes can be used there. A cluster has more once somebody applies a
          ClusterTrainingRuntime.
        </EmptyPage>
      )}
      {runtimes && runtimes.length > 0 && (
        <DataTable
          label="Runtimes"
          columns={COLUMNS}
          numbers={[3]}
          rows={runtimes.map(factsOf).map((facts) => {
            const found = backend ? { backend } : {};
            return [
              `${facts.kind} ${facts.name}`,
              <Link
                key="name"
                to="/runtimes/$runtime"
                params={{ runtime: facts.name }}
                search={found}
                className="tw-link"
              >
                {facts.name}
              </Link>,
              facts.framework || "–",
              facts.policy || "none",
              facts.nodes || "–",
              facts.images.join(", "),
              <Link
                key="use"
                to="/create"
                search={{ kind: "TrainJob", runtime: facts.name, ...found }}
                className="tw-link"
                aria-label={`Use it: ${facts.name}`}
              >
                Use it
              </Link>,
            ] as const;
          })}
        />
      )}
    </PageFrame>
  );
}
