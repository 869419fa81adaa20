/**
 * What changes on the server while a page is open: one connection for all pages.
 *
 * The browser resumes it after the event it saw last. Where the browser gives up, since the server is away
 * or answers with an error, the connection is made anew, ever more slowly, and everything is read again.
 */
import { KEYS, queryClient } from "./queries";
import { isLoggedIn } from "./session";

/** `out`: the server answers, but this browser is not logged in any more. */
export type LiveState = "connecting" | "open" | "lost" | "out";
export type Listener = (state: LiveState) => void;

const ADDRESS = "/dashboard/events";
/** How often a list is read again at most, in milliseconds, however much changes. */
const PACE = 1_000;
const LONGEST_WAIT = 30_000;

/** How long to wait before the connection is made anew, in milliseconds. */
export function waitBefore(attempt: number): number {
  return Math.min(LONGEST_WAIT, 1_000 * 2 ** attempt);
}

/** The ids of the jobs that an event names; null: an event that is not understood. */
export function changedJobs(data: string): string[] | null {
  try {
    const { jobs } = JSON.parse(data) as { jobs?: unknown };
    return Array.isArray(jobs) ? jobs.map(String) : null;
  } catch {
    return null;
  }
}

class Live {
  #source: EventSource | null = null;
  #state: LiveState = "connecting";
  #listeners = new Set<Listener>();
  #attempt = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #refresh: ReturnType<typeof setTimeout> | undefined;

  get state(): LiveState {
    return this.#state;
  }

  /** Open the connection while somebody listens to its state. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    if (this.#source === null) this.#open();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#close();
    };
  }

  #open(): void {
    const source = new EventSource(ADDRESS);
    this.#source = source;
    source.onopen = () => {
      if (this.#state === "lost" || this.#state === "out") void queryClient.invalidateQueries();
      this.#attempt = 0;
      this.#become("open");
    };
    source.onerror = () => {
      if (this.#state !== "out") this.#become("lost");
      if (source.readyState !== EventSource.CLOSED) return; // the browser tries again by itself
      void this.#whyRefused(source);
      this.#retry = setTimeout(() => this.#open(), waitBefore(this.#attempt++));
    };
    source.addEventListener("jobs", (event: MessageEvent<string>) => this.#changed(event.data));
    source.addEventListener("reset", () => void queryClient.invalidateQueries());
  }

  /** Where the server refused the stream since nobody is logged in, the pages ask again, and so learn how to log in. */
  async #whyRefused(source: EventSource): Promise<void> {
    const isKnown = await isLoggedIn().catch(() => true); // who does not answer has not refused
    if (isKnown || this.#state === "out" || this.#source !== source) return;
    this.#become("out");
    void queryClient.invalidateQueries();
  }

  #close(): void {
    this.#source?.close();
    this.#source = null;
    clearTimeout(this.#retry);
    clearTimeout(this.#refresh);
    this.#refresh = undefined;
    this.#state = "connecting";
  }

  #changed(data: string): void {
    const ids = changedJobs(data);
    if (ids?.length === 0) return; // every stream begins so
    for (const id of ids ?? []) {
      void queryClient.invalidateQueries({ queryKey: [KEYS.job, id] });
    }
    this.#refresh ??= setTimeout(() => {
      this.#refresh = undefined;
      for (const key of [KEYS.jobs, KEYS.runs, KEYS.server, KEYS.overview]) {
        void queryClient.invalidateQueries({ queryKey: [key] });
      }
    }, PACE);
  }

  #become(state: LiveState): void {
    if (state === this.#state) return;
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }
}

export const live = new Live();
