import { Alert } from "@patternfly/react-core/dist/dynamic/components/Alert";
import { Card, CardBody, CardHeader, CardTitle } from "@patternfly/react-core/dist/dynamic/components/Card";
import { Link } from "@tanstack/react-router";
import { DataTable } from "../../components/DataTable";
import { FactList } from "../../components/FactList";
import { count, money } from "../../components/format";
import { Moment } from "../../components/Moment";
import type { Refusal, Rented } from "../../data/clouds";
import { kindText, placeText, rentedText, type CloudUse } from "./clouds";
import { Hint } from "../../components/Hint";

/** One cloud: who we are there, what is rented, what it cannot do, and what it has refused. */
export function CloudCard({ use, clusters }: { use: CloudUse; clusters: ReadonlySet<string> }) {
  const { cloud, rented, refusals } = use;
  const missing = Object.entries(cloud.missing);
  return (
    <Card isCompact component="section">
      <CardHeader>
        <CardTitle component="h3" className="tw-break">
          {cloud.name}
        </CardTitle>
      </CardHeader>
      <CardBody>
        {cloud.problem && (
          <Alert variant="warning" isInline component="h4" title="It cannot be asked now">
            <p className="tw-break">{cloud.problem}</p>
            {cloud.hint && (
              <p>
                <Hint text={cloud.hint} />
              </p>
            )}
          </Alert>
        )}
        <FactList
          facts={[
            ["Rented now", rentedText(rented)],
            ["Account", cloud.account],
            ["User", cloud.user],
            ["Credentials from", cloud.source],
            ["Regions", cloud.regions.length > 0 && count(cloud.regions.length, "region")],
          ]}
        />
        {rented.length > 0 && <RentedTable cloud={cloud.name} rented={rented} clusters={clusters} />}
        {refusals.length > 0 && <Refusals cloud={cloud.name} refusals={refusals} />}
        {cloud.regions.length > 0 && (
          <details className="tw-cloud-more">
            <summary>Regions of {cloud.name}</summary>
            <p className="tw-break">{cloud.regions.join(", ")}</p>
          </details>
        )}
        {missing.length > 0 && (
          <details className="tw-cloud-more">
            <summary>What {cloud.name} cannot do</summary>
            <ul className="tw-list">
              {missing.map(([ability, reason]) => (
                <li key={ability} className="tw-break">
                  {ability} <span className="tw-subtle">{reason}</span>
                </li>
              ))}
            </ul>
          </details>
        )}
      </CardBody>
    </Card>
  );
}

interface TableProps {
  cloud: string;
  rented: readonly Rented[];
  clusters: ReadonlySet<string>;
}

function RentedTable({ cloud, rented, clusters }: TableProps) {
  return (
    <DataTable
      label={`Rented of ${cloud}`}
      columns={["Cluster", "Machines", "Type", "Where", "State", "An hour"]}
      numbers={[1, 5]}
      rows={rented.map((each) => [
        `${each.cluster} ${each.since}`,
        clusters.has(each.cluster) ? (
          <Link key="link" to="/clusters/$cluster" params={{ cluster: each.cluster }} className="tw-link">
            {each.cluster}
          </Link>
        ) : (
          each.cluster
        ),
        each.nodes,
        kindText(each),
        placeText(each),
        each.message ? `${each.state}: ${each.message}` : each.state,
        money(each.hourlyPrice),
      ])}
    />
  );
}

function Refusals({ cloud, refusals }: { cloud: string; refusals: readonly Refusal[] }) {
  return (
    <section aria-label={`Refused by ${cloud}`} className="tw-findings">
      <h4>Refused lately</h4>
      <ul className="tw-list">
        {refusals.map((each, index) => (
          <li key={index} className="tw-break">
            {each.error}{" "}
            <span className="tw-subtle">
              {kindText(each)}, {placeText(each)}, <Moment time={each.at} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
