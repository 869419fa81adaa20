import { SearchInput } from "@patternfly/react-core/dist/dynamic/components/SearchInput";
import { useQueries, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Choice } from "../../components/Choice";
import { ErrorAlert } from "../../components/ErrorAlert";
import { Loading } from "../../components/Loading";
import { PageFrame } from "../../components/PageFrame";
import { useTyped } from "../../components/useTyped";
import { nodesQuery } from "../../data/infra";
import { backendsQuery } from "../../data/places";
import type { Search } from "../../data/search";
import { NodeList } from "./NodeList";
import { filtered, filtersOf, rowsOf, searchOf, STATES, summary, type NodeFilters } from "./nodes";
import { PlaceProblems } from "./PlaceProblems";
import "./nodes.css";

const STATE_CHOICES = [
  ["", "Any state"],
  ...Object.entries(STATES),
  ["failures", "With failures in the last day"],
];

/** The nodes of all places: what is free, what goes wrong there, and which are set aside. */
export default function NodesPage() {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const filters = filtersOf(search);
  const choose = (part: Partial<NodeFilters>) =>
    void navigate({ to: "/nodes", search: searchOf({ ...filters, ...part }), replace: true });
  const name = useTyped(filters.text, (text) => choose({ text }));
  const { data: places, error, refetch } = useQuery(backendsQuery);
  const asked = useQueries({ queries: (places ?? []).map(nodesQuery) });
  const rows = rowsOf(asked.flatMap((each) => each.data ?? []));
  const shown = filtered(rows, filters);
  const isWaiting = (!places && !error) || asked.some((each) => each.isPending);
  return (
    <PageFrame
      title="Nodes"
      isFilled
      beside={rows.length > 0 && <span className="tw-subtle">{summary(rows)}</span>}
    >
      <div className="tw-filters" role="search" aria-label="Filters of the nodes">
        <div data-search>
          <SearchInput
            aria-label="Find nodes"
            placeholder="Node, state or job"
            value={name.value}
            onChange={(_, text) => name.onChange(text)}
            onBlur={name.onBlur}
            onClear={() => name.onChange("")}
          />
        </div>
        <Choice
          label="Place"
          value={filters.place}
          choices={[["", "Any place"], ...(places ?? []).map((place) => [place, place])]}
          onChange={(place) => choose({ place })}
        />
        <Choice
          label="State"
          value={filters.state}
          choices={STATE_CHOICES}
          onChange={(state) => choose({ state })}
        />
      </div>
      {error && (
        <ErrorAlert error={error} title="The places could not be read" onRetry={() => void refetch()} />
      )}
      <PlaceProblems places={places ?? []} asked={asked} />
      {shown.length > 0 && <NodeList rows={shown} />}
      {isWaiting && rows.length === 0 && <Loading what="the nodes" />}
      {isWaiting && rows.length > 0 && <p className="tw-subtle">Asking the other places …</p>}
      {!isWaiting && shown.length === 0 && rows.length > 0 && <p>No node is like that.</p>}
      {!isWaiting && rows.length === 0 && places && !error && <p>No place tells of nodes.</p>}
    </PageFrame>
  );
}
