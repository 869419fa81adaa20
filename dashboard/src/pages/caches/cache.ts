/** What people do with a cache. Pure. */
import { isOver } from "../../components/phases";

/** The line of Python that reads a cache; empty: nobody here knows where it is, or it serves nothing any more. */
export function usage({ address, state }: { address: string; state: string }): string {
  return address && !isOver(state) ? `TableDataset("${address}")` : "";
}
