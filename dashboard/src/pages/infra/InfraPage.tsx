import { SearchInput } from "@patternfly/react-core/dist/dynamic/components/SearchInput";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { ErrorAlert } from "../../components/ErrorAlert";
import { Loading } from "../../components/Loading";
import { PageFrame } from "../../components/PageFrame";
import { jobQueuesQuery } from "../../data/infra";
import { backendsQuery } from "../../data/places";
import { value, type Search } from "../../data/search";
import { BackendCard } from "./BackendCard";
import { CloudSection } from "./CloudSection";
import "./infra.css";

/** Every place where jobs can run, with its nodes, and the clouds where machines are rented. */
export default function InfraPage() {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const filter = value(search, "node");
  const { data: names, error, refetch } = useQuery(backendsQuery);
  const loads = useQuery(jobQueuesQuery).data?.items ?? [];
  const choose = (node: string) =>
    void navigate({ to: "/infra", search: { ...search, node: node || undefined }, replace: true });
  return (
    <PageFrame title="Infra">
      <div className="tw-controls" data-search>
        <SearchInput
          aria-label="Find nodes"
          placeholder="Node, state or job"
          value={filter}
          onChange={(_, text) => choose(text)}
          onClear={() => choose("")}
        />
      </div>
      {error && (
        <ErrorAlert error={error} title="The backends could not be read" onRetry={() => void refetch()} />
      )}
      {!names && !error && <Loading what="the backends" />}
      <div className="tw-stack">
        {names?.map((name) => (
          <BackendCard
            key={name}
            name={name}
            load={loads.find((load) => load.name === name)}
            filter={filter}
          />
        ))}
      </div>
      {names?.length === 1 && (
        <p className="tw-subtle">
          Jobs can also run on SSH hosts and Slurm clusters that <code>~/.trainway/config.yaml</code> names,
          and on the clusters of your kubeconfig.
        </p>
      )}
      <CloudSection />
    </PageFrame>
  );
}
