import { Label, LabelGroup } from "@patternfly/react-core/dist/dynamic/components/Label";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { elapsed } from "../../components/format";
import { Moment } from "../../components/Moment";
import { useNow } from "../../components/useNow";
import type { JobProps } from "./jobProps";
import { Note } from "./Note";

const OURS = "trainway.dev/";

/** Only links that lead to web pages are links; the server takes no others. */
function isWeb(url: string): boolean {
  return /^https?:\/\//i.test(url);
}

/** What there is to say about any job, above its tabs. */
export function Facts({ job }: JobProps) {
  const now = useNow();
  const { metadata, spec, status } = job;
  const labels = Object.entries(metadata.labels).filter(([key]) => !key.startsWith(OURS));
  const links = Object.entries(metadata.links ?? {});
  return (
    <dl className="tw-facts">
      <Fact name="Id">
        <code>{metadata.id}</code>
      </Fact>
      <Fact name="Kind">{spec.kind}</Fact>
      <Fact name="Runs on">{spec.backend}</Fact>
      <Fact name="Pipeline">
        {spec.run && metadata.labels[`${OURS}task`] && (
          <Link to="/pipelines/$run" params={{ run: spec.run }} className="tw-link">
            {metadata.labels[`${OURS}run`] ?? spec.run}
          </Link>
        )}
      </Fact>
      <Fact name="User">{metadata.labels[`${OURS}user`]}</Fact>
      <Fact name="Submitted">
        <Moment time={metadata.creationTimestamp} />
      </Fact>
      <Fact name="Duration">{status.startTime && elapsed(status.startTime, status.completionTime, now)}</Fact>
      <Fact name="Restarts">{status.restarts > 0 && status.restarts}</Fact>
      <Fact name="Labels">
        {labels.length > 0 && (
          <LabelGroup numLabels={6}>
            {labels.map(([key, value]) => (
              <Label key={key} isCompact variant="outline">
                {value ? `${key}=${value}` : key}
              </Label>
            ))}
          </LabelGroup>
        )}
      </Fact>
      <Fact name="Links">
        {links.length > 0 &&
          links.map(([name, url]) =>
            isWeb(url) ? (
              <a
                key={name}
                href={url}
                target="_blank"
                rel="noopener noreferrer"
                className="tw-link tw-spaced"
              >
                {name}
              </a>
            ) : (
              <span key={name} className="tw-spaced">{`${name}: ${url}`}</span>
            ),
          )}
      </Fact>
      <Fact name="Note">
        <Note job={job} />
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  if (children === undefined || children === null || children === false || children === "") return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd className="tw-break">{children}</dd>
    </div>
  );
}
