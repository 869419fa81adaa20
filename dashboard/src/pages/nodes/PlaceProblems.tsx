import { Alert } from "@patternfly/react-core/dist/dynamic/components/Alert";
import { ErrorAlert } from "../../components/ErrorAlert";
import type { BackendNodes } from "../../data/infra";
import { Hint } from "../../components/Hint";

interface Props {
  places: readonly string[];
  /** What each of them said, in their order. */
  asked: readonly { data?: BackendNodes | undefined; error: unknown }[];
}

/** The places whose nodes are not all in the list, and why. */
export function PlaceProblems({ places, asked }: Props) {
  return asked.map(({ data, error }, index) => {
    const place = places[index] ?? "";
    if (error) return <ErrorAlert key={place} error={error} title={`${place} could not be read`} />;
    if (data?.problem) {
      return (
        <Alert
          key={place}
          variant="warning"
          isInline
          component="h2"
          title={`${place} cannot be asked for its nodes`}
        >
          <p className="tw-break">{data.problem}</p>
          {data.hint && (
            <p>
              <Hint text={data.hint} />
            </p>
          )}
        </Alert>
      );
    }
    if (data && data.nodes.length < data.total) {
      return (
        <p key={place} className="tw-subtle">
          Of {place} the first {data.nodes.length.toLocaleString("en")} of {data.total.toLocaleString("en")}{" "}
          nodes are shown.
        </p>
      );
    }
    return null;
  });
}
