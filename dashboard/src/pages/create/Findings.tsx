import { Alert } from "@patternfly/react-core/dist/dynamic/components/Alert";
import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { count } from "../../components/format";
import type { DraftReport } from "../../data/drafts";
import { goToLine } from "./YamlEditor";

/** All that is wrong with a draft, and what its writer should know. */
export function Findings({ report }: { report: DraftReport }) {
  const { errors, warnings } = report;
  if (errors.length === 0 && warnings.length === 0) {
    return <Alert variant="success" isInline isPlain title="The job can be submitted" component="p" />;
  }
  return (
    <>
      {errors.length > 0 && (
        <Alert
          variant="danger"
          isInline
          title={count(errors.length, "thing is", "things are") + " wrong"}
          component="p"
        >
          <ul className="tw-findings">
            {errors.map((item, index) => (
              <li key={index} className="tw-break">
                {item.line !== null && (
                  <>
                    <Button
                      variant="link"
                      isInline
                      onClick={() => goToLine(item.line ?? 1, item.column ?? 1)}
                    >
                      Line {item.line}
                    </Button>
                    {": "}
                  </>
                )}
                {item.message}
              </li>
            ))}
          </ul>
        </Alert>
      )}
      {warnings.length > 0 && (
        <Alert variant="warning" isInline title={count(warnings.length, "warning")} component="p">
          <ul className="tw-findings">
            {warnings.map((warning) => (
              <li key={warning} className="tw-break">
                {warning}
              </li>
            ))}
          </ul>
        </Alert>
      )}
    </>
  );
}
