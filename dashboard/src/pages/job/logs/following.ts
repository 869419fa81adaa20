/** When a log that is followed is read again. Pure but for its timers. */
import { isOver } from "../../../components/phases";

/** How often a log is read that is being written, in milliseconds. */
const PACE = 1_000;
/** How long after a job has stopped writing the last lines may still arrive, as from a cluster. */
const AFTERMATH = 5_000;
const WRITES = ["Starting", "Running", "Restarting", "Stopping"];

/** Whether a job in that phase may write something. */
export function isWriting(phase: string): boolean {
  return WRITES.includes(phase);
}

/** Why there is nothing to follow; empty: there is. */
export function stillness(phase: string): string {
  if (isWriting(phase)) return "";
  if (isOver(phase)) return "The job has ended, so nothing is added to its log.";
  if (phase === "Paused") return "The job is suspended. Its log goes on when it is resumed.";
  return "The job waits. Its log goes on when it starts.";
}

/**
 * Reads again and again while the job writes; then at once, once more for what was on its way, and no more.
 *
 * It gives back what ends it.
 */
export function follow(isWritten: boolean, read: () => void): () => void {
  if (isWritten) {
    const timer = setInterval(read, PACE);
    return () => clearInterval(timer);
  }
  read();
  const timer = setTimeout(read, AFTERMATH);
  return () => clearTimeout(timer);
}
