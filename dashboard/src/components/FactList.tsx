import type { ReactNode } from "react";
import "./FactList.css";

interface Props {
  /** Each with its name; one that is empty is left out. */
  facts: readonly (readonly [string, ReactNode])[];
}

/** Facts about something, beside each other as far as there is room. */
export function FactList({ facts }: Props) {
  const known = facts.filter(
    ([, value]) => value !== undefined && value !== null && value !== false && value !== "",
  );
  return (
    <dl className="tw-fact-list">
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="tw-break">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
