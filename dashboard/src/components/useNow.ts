import { useSyncExternalStore } from "react";

const PERIOD = 5_000;
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) now = Date.now();
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, PERIOD);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

const snapshot = () => now;

/** The present moment, in milliseconds; whoever shows a relative time is drawn again with it. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, snapshot, snapshot);
}
