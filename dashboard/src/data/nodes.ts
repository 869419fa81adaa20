/** Nodes that are set aside, and those that are let in again. */
import { change } from "./client";
import { nodesQuery } from "./infra";
import { queryClient } from "./queries";

export interface NodeRef {
  place: string;
  node: string;
}

/** Lets a node take no new pods; those that it has go on. */
export function drain({ place, node }: NodeRef, why: string) {
  return change("post", "/api/v1/backends/nodes/drain", { body: { backend: place, node, why, by: "" } });
}

/** Lets it take pods again. */
export function undrain({ place, node }: NodeRef) {
  return change("post", "/api/v1/backends/nodes/undrain", { body: { backend: place, node } });
}

/** Asks a place for its nodes again, after one of them was changed. */
export function askAgain(place: string): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: nodesQuery(place).queryKey });
}
