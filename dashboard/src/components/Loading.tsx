import { Bullseye } from "@patternfly/react-core/dist/dynamic/layouts/Bullseye";
import { Spinner } from "@patternfly/react-core/dist/dynamic/components/Spinner";

export function Loading({ what = "the page" }: { what?: string }) {
  return (
    <Bullseye className="tw-loading">
      <Spinner aria-label={`Loading ${what}`} />
    </Bullseye>
  );
}
