import { useSyncExternalStore } from "react";
import { live, type LiveState } from "./live";

const subscribe = (listener: () => void) => live.subscribe(listener);
const snapshot = () => live.state;

/** Whether the page hears of changes as they happen. */
export function useLive(): LiveState {
  return useSyncExternalStore(subscribe, snapshot);
}
