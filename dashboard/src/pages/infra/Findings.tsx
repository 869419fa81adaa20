import { useQuery } from "@tanstack/react-query";
import { ErrorAlert } from "../../components/ErrorAlert";
import { Loading } from "../../components/Loading";
import { placesQuery, type Check, type Place } from "../../data/places";

/** What `trainway doctor` says of a backend. */
export function Findings({ backend }: { backend: string }) {
  const { data, error, refetch } = useQuery(placesQuery(backend));
  if (error) return <ErrorAlert error={error} title="The check failed" onRetry={() => void refetch()} />;
  const place = data?.[0];
  if (!place) return <Loading what={`the check of ${backend}`} />;
  const missing = Object.entries(place.capabilities).filter(([, reason]) => reason !== "");
  return (
    <section aria-label={`Check of ${backend}`} className="tw-findings">
      <ul className="tw-list">
        {place.checks.map((check) => (
          <Finding key={check.name} check={check} />
        ))}
        {missing.map(([feature, reason]) => (
          <li key={feature} className="tw-break">
            Not possible here: {feature} <span className="tw-subtle">{reason}</span>
          </li>
        ))}
        <Limits place={place} />
      </ul>
      <p className="tw-subtle">
        <code>trainway doctor</code> prints the same for all backends.
      </p>
    </section>
  );
}

function Finding({ check }: { check: Check }) {
  return (
    <li className="tw-break">
      <strong>{check.ok ? "OK" : "Problem"}</strong> {check.name}: {check.detail}
      {check.fix && (
        <div className="tw-subtle">
          {check.ok ? "You could" : "To do"}: {check.fix}
        </div>
      )}
    </li>
  );
}

function Limits({ place }: { place: Place }) {
  return place.capacity?.limits.map((limit) => (
    <li key={`${limit.name} ${limit.resource}`} className="tw-break">
      Quota {limit.name}: {limit.used} of {limit.hard} {limit.resource} used
    </li>
  ));
}
