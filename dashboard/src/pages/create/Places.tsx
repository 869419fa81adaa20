import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { Checkbox } from "@patternfly/react-core/dist/dynamic/components/Checkbox";
import { ExpandableSection } from "@patternfly/react-core/dist/dynamic/components/ExpandableSection";
import { Label } from "@patternfly/react-core/dist/dynamic/components/Label";
import { useState } from "react";
import { DataTable } from "../../components/DataTable";
import { ErrorAlert } from "../../components/ErrorAlert";
import { money } from "../../components/format";
import type { PlaceOffer } from "../../data/placement";
import type { Placing } from "./usePlacing";

const COLUMNS = ["Place", "Fits", "Price an hour", "Ahead", "Why"];

/** Several places to choose between, and what each of them says. */
export function Places({ backends, placing }: { backends: readonly string[]; placing: Placing }) {
  const [isOpen, setOpen] = useState(false);
  const { places, found, isAsking, isOld, error, choose } = placing;
  return (
    <ExpandableSection
      toggleText="Choose between several places"
      isExpanded={isOpen}
      onToggle={(_, isExpanded) => setOpen(isExpanded)}
    >
      <div className="tw-chips" role="group" aria-label="Places to choose between">
        {backends.map((name) => (
          <Checkbox
            key={name}
            id={`place-${name}`}
            label={name}
            isChecked={places.includes(name)}
            onChange={(_, isChosen) =>
              choose(backends.filter((each) => wanted(each, name, isChosen, places)))
            }
          />
        ))}
      </div>
      <div aria-live="polite">
        {isAsking && <p className="tw-subtle">Asking the places …</p>}
        {places.length === 1 && <p className="tw-subtle">Choose one more to compare them.</p>}
        {error !== null && !isAsking && <ErrorAlert error={error} title="The places could not be asked" />}
      </div>
      {found && (
        <>
          <DataTable
            label="Places"
            columns={COLUMNS}
            numbers={[2, 3]}
            sentences={[4]}
            rows={found.offers.map((offer) => row(offer, found.chosen))}
          />
          {found.chosen === null && <p>No place takes the job.</p>}
          {isOld && !isAsking && (
            <p>
              The job has changed since.{" "}
              <Button variant="link" isInline onClick={() => choose(places)}>
                Ask again
              </Button>
            </p>
          )}
        </>
      )}
    </ExpandableSection>
  );
}

function wanted(each: string, changed: string, isChosen: boolean, places: readonly string[]): boolean {
  return each === changed ? isChosen : places.includes(each);
}

function row(offer: PlaceOffer, chosen: string | null): readonly [string, ...React.ReactNode[]] {
  return [
    offer.place,
    <>
      {offer.place}{" "}
      {offer.place === chosen && (
        <Label isCompact color="green">
          chosen
        </Label>
      )}
    </>,
    offer.fit,
    money(offer.price),
    offer.ahead,
    offer.reason,
  ];
}
