/** What the page of fine-tunes works out from what jobs have reported. Pure. */
import type { Schemas } from "../../data/client";

type Points = Schemas["MetricHistory"]["series"][string];

/** Tokens for each second, over what is known of the last attempt; null: too little is known. */
export function tokensPerSecond(points: Points | undefined): number | null {
  const known = (points ?? []).filter((point) => typeof point.value === "number");
  // After a restart the count goes on from the checkpoint, and the time between says nothing.
  let first = known.length - 1;
  while (first > 0 && (known[first - 1]?.value ?? Infinity) < (known[first]?.value ?? 0)) first -= 1;
  const [from, to] = [known[first], known.at(-1)];
  if (!from || !to) return null;
  const seconds = (Date.parse(to.time) - Date.parse(from.time)) / 1000;
  return seconds > 0 && to.value > from.value ? (to.value - from.value) / seconds : null;
}

/** What a result is called while it is not there yet, and when it is. */
export function resultState(tune: { phase: string; exportState: string | null | undefined }): string {
  switch (tune.exportState) {
    case "Done":
      return "uploaded";
    case "Uploading":
      return "is being uploaded";
    case "Failed":
      return "could not be uploaded";
    case "Skipped":
      return "was not uploaded, since the job did not succeed";
    case "Waiting":
      return "is uploaded when the job has succeeded";
    default:
      if (tune.phase === "Cancelled") return "not complete, since the job was cancelled";
      return tune.phase === "Succeeded" ? "" : "written when the training ends";
  }
}

/** The last part of a folder or URI, for a narrow column: the whole of it is shown with it. */
export function shortName(place: string): string {
  return place.replace(/\/+$/, "").split("/").at(-1) || place;
}
