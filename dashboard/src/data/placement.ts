/** What several places offer for one job. */
import { change, type Schemas } from "./client";
import type { DraftReport } from "./drafts";

export type PlaceOffer = Schemas["OfferInfo"];
export type Placement = Schemas["Placement"];

/** Asks each place what it offers. Nothing is submitted. */
export function placement(report: DraftReport, places: readonly string[]): Promise<Placement> {
  const candidates = places.map((backend) => ({
    objects: report.objects,
    options: { backend, labels: report.labels } as Schemas["SubmitOptions"],
  }));
  return change("post", "/api/v1/placements", { body: { candidates, prefer: "cost", task: "" } });
}
