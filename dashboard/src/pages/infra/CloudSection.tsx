import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { Title } from "@patternfly/react-core/dist/dynamic/components/Title";
import { useQuery } from "@tanstack/react-query";
import { DataTable } from "../../components/DataTable";
import { ErrorAlert } from "../../components/ErrorAlert";
import { Loading } from "../../components/Loading";
import { cloudsQuery, rentedQuery } from "../../data/clouds";
import { clustersQuery } from "../../data/clusters";
import { CloudCard } from "./CloudCard";
import { cloudUses } from "./clouds";
import { Hint } from "../../components/Hint";

/** The clouds of which machines can be rented. */
export function CloudSection() {
  const clouds = useQuery(cloudsQuery);
  const rented = useQuery(rentedQuery);
  const names = useQuery(clustersQuery).data?.map((cluster) => cluster.metadata.name) ?? [];
  const known = rented.data ?? { items: [], refusals: [] };
  const { used, unusable } = cloudUses(clouds.data ?? [], known.items, known.refusals);
  const looking = known.items.filter((each) => each.cloud === "");
  return (
    <section aria-label="Clouds">
      <div className="tw-cloud-head">
        <Title headingLevel="h2" size="lg">
          Clouds
        </Title>
        <Button
          variant="link"
          size="sm"
          aria-label="Check again: all clouds"
          isDisabled={clouds.isFetching}
          onClick={() => void clouds.refetch()}
        >
          Check again
        </Button>
      </div>
      {(clouds.error ?? rented.error) && (
        <ErrorAlert
          error={clouds.error ?? rented.error}
          title="The clouds could not be read"
          onRetry={() => void Promise.all([clouds.refetch(), rented.refetch()])}
        />
      )}
      {!clouds.data && !clouds.error && <Loading what="the clouds" />}
      {looking.length > 0 && (
        <p className="tw-break">An offer is looked for: {looking.map((each) => each.cluster).join(", ")}</p>
      )}
      <div className="tw-stack">
        {used.map((use) => (
          <CloudCard key={use.cloud.name} use={use} clusters={new Set(names)} />
        ))}
      </div>
      {clouds.data && used.length === 0 && (
        <p className="tw-subtle">
          There are no credentials for a cloud. With them, <code>trainway launch --infra aws</code> rents
          machines.
        </p>
      )}
      {unusable.length > 0 && (
        <div className="tw-clouds-unusable">
          <DataTable
            label="Clouds that cannot be used"
            columns={["Cloud", "Why it cannot be used", "What to do"]}
            sentences={[1, 2]}
            rows={unusable.map((cloud) => [
              cloud.name,
              cloud.name,
              cloud.problem,
              <Hint key="hint" text={cloud.hint} />,
            ])}
          />
        </div>
      )}
    </section>
  );
}
