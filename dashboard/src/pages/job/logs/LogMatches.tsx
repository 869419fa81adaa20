import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { count } from "../../../components/format";
import { ErrorAlert } from "../../../components/ErrorAlert";
import { plain } from "./ansi";
import type { LogSearchState } from "./useLogSearch";

interface Props {
  found: LogSearchState & { isFull: boolean };
  chosen: string;
  onChoose: (id: string) => void;
  onClose: () => void;
}

/** What a search has found so far; a click shows the lines around it. */
export function LogMatches({ found, chosen, onChoose, onClose }: Props) {
  if (!found.text) return null;
  const said = found.isRunning
    ? `${count(found.matches.length, "line")} so far, ${Math.round(found.share * 100)} % searched`
    : `${found.isFull ? "The first " : ""}${count(found.matches.length, "line")} with “${found.text}”`;
  return (
    <section className="tw-matches" aria-label="What was found">
      <div className="tw-toolbar">
        <span role="status">{said}</span>
        <Button variant="link" isInline onClick={onClose}>
          {found.isRunning ? "Stop" : "Close"}
        </Button>
      </div>
      {found.error !== null && found.error !== undefined && (
        <ErrorAlert error={found.error} title="The log could not be searched" />
      )}
      <ol>
        {found.matches.map((match) => (
          <li key={match.id}>
            <button
              type="button"
              className="tw-match"
              aria-current={match.id === chosen}
              onClick={() => onChoose(match.id)}
            >
              <span className="tw-line-node">{match.node}</span> {plain(match.text)}
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}
