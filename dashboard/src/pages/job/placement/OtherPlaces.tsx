import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { DataTable } from "../../../components/DataTable";
import { ErrorAlert } from "../../../components/ErrorAlert";
import { money } from "../../../components/format";
import { Loading } from "../../../components/Loading";
import type { Schemas } from "../../../data/client";
import { jobPlacementQuery } from "../../../data/jobQueries";
import type { JobProps } from "../jobProps";
import { MoveDialog } from "./MoveDialog";
import { moveCommand } from "./placement";

type JobOffer = Schemas["JobOffer"];

const COLUMNS = ["Place", "Fits", "Price an hour", "Ahead", "Why", "Move"];

/** What every other place offers for the job now, and how it gets there. */
export function OtherPlaces({ job }: JobProps) {
  const { id } = job.metadata;
  const { data, error, refetch, isFetching } = useQuery(jobPlacementQuery(id));
  const [goal, setGoal] = useState("");
  if (error && !data)
    return <ErrorAlert error={error} title="The places could not be asked" onRetry={() => void refetch()} />;
  if (!data) return <Loading what="what other places offer" />;
  if (data.offers.length === 0) {
    return (
      <p>
        There is no other place. SSH hosts and Slurm clusters are named in{" "}
        <code>~/.trainway/config.yaml</code>.
      </p>
    );
  }
  return (
    <>
      <DataTable
        label="Other places"
        columns={COLUMNS}
        numbers={[2, 3]}
        sentences={[4, 5]}
        rows={data.offers.map((offer) => row(offer, id, setGoal))}
      />
      <Button variant="link" isInline isDisabled={isFetching} onClick={() => void refetch()}>
        Ask the places again
      </Button>
      {goal && <MoveDialog job={job} goal={goal} onClose={() => setGoal("")} />}
    </>
  );
}

function row(
  { place, fit, price, ahead, reason, obstacle }: JobOffer,
  id: string,
  onMove: (place: string) => void,
): readonly [string, ...React.ReactNode[]] {
  return [
    place,
    place,
    fit,
    money(price),
    ahead,
    reason,
    obstacle === "" ? (
      <Button
        key="move"
        size="sm"
        variant="secondary"
        aria-label={`Move… to ${place}`}
        onClick={() => onMove(place)}
      >
        Move…
      </Button>
    ) : fit === "never" ? (
      "–"
    ) : (
      <>
        <div>{obstacle}</div>
        {obstacle.includes("trainway jobs move") && <code>{moveCommand(id, place)}</code>}
      </>
    ),
  ];
}
