/** Which clouds are used, and what is rented there, in words. Pure. */
import { count, money } from "../../components/format";
import type { Cloud, Refusal, Rented } from "../../data/clouds";

/** How many of the latest refusals of a cloud are shown. */
const MOST_REFUSALS = 3;

export interface CloudUse {
  cloud: Cloud;
  rented: readonly Rented[];
  refusals: readonly Refusal[];
}

/** The clouds that are used or can be, and those that cannot: what is rented there counts more. */
export function cloudUses(
  clouds: readonly Cloud[],
  rented: readonly Rented[],
  refusals: readonly Refusal[],
): { used: CloudUse[]; unusable: Cloud[] } {
  const uses = clouds.map((cloud) => ({
    cloud,
    rented: rented.filter((each) => each.cloud === cloud.name),
    refusals: refusals.filter((each) => each.cloud === cloud.name).slice(0, MOST_REFUSALS),
  }));
  const isUsed = (use: CloudUse) => use.cloud.usable || use.rented.length > 0;
  return {
    used: uses.filter(isUsed),
    unusable: uses.filter((use) => !isUsed(use)).map((use) => use.cloud),
  };
}

/** `3 machines of 2 clusters, $12.00 an hour`. */
export function rentedText(rented: readonly Rented[]): string {
  if (rented.length === 0) return "nothing";
  const machines = rented.reduce((sum, each) => sum + each.nodes, 0);
  const price = rented.reduce((sum, each) => sum + each.hourlyPrice, 0);
  return `${count(machines, "machine")} of ${count(rented.length, "cluster")}, ${money(price)} an hour`;
}

/** Where something is: `us-east-1a`, or the region where no zone is known. */
export function placeText(each: { region: string; zone: string }): string {
  return each.zone || each.region || "–";
}

/** `p5.48xlarge, spot`. */
export function kindText(each: { instanceType: string; spot: boolean; reservation?: string }): string {
  const kinds = [each.spot && "spot", each.reservation && "reserved"].filter(Boolean);
  return [each.instanceType || "not chosen yet", ...kinds].join(", ");
}
