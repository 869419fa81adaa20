import { useCallback, useEffect, useRef, useState } from "react";
import { get } from "../../../data/client";
import { isPassing } from "../../../data/errors";
import { follow } from "./following";
import {
  choiceQuery,
  isAtEnd,
  PAGE_LINES,
  withNewer,
  withOlder,
  type LogChoice,
  type LogPage,
  type Pages,
} from "./pages";

/** Where to look: at the end where nothing is said. */
export interface Place {
  at?: number;
  time?: string;
  around?: string;
}

/** How long after a failure that may pass the log is read again, in milliseconds. */
const PAUSE = 5_000;

export interface LogPages {
  pages: Pages;
  error: unknown;
  isLoading: boolean;
  /** Changes whenever another place was looked at, and says which line is in the middle. */
  jump: { number: number; around: string; isEnd: boolean };
  go: (place: Place) => void;
  older: () => Promise<number>;
  newer: () => Promise<void>;
}

export interface Following {
  /** Whether somebody wants to see what is written. */
  isFollowing: boolean;
  /** Whether anything is written now. */
  isWritten: boolean;
}

/** The windows of a job's log that are in the browser. */
export function useLogPages(id: string, choice: LogChoice, { isFollowing, isWritten }: Following): LogPages {
  const [pages, setPages] = useState<Pages>([]);
  const [error, setError] = useState<unknown>(null);
  const [isLoading, setIsLoading] = useState(true);
  const [jump, setJump] = useState({ number: 0, around: "", isEnd: true });
  const current = useRef<Pages>([]);
  const asking = useRef<AbortController | null>(null);
  const { node, attempt } = choice;

  const keep = useCallback((next: Pages) => {
    current.current = next;
    setPages(next);
  }, []);

  const read = useCallback(
    async (query: Record<string, string | number>): Promise<LogPage | null> => {
      const controller = new AbortController();
      asking.current = controller;
      try {
        const page = await get("/api/v1/jobs/{ref}/logs/window", {
          path: { ref: id },
          query: { ...choiceQuery({ node, attempt }), lines: PAGE_LINES, ...query },
          signal: controller.signal,
        });
        setError(null);
        return page;
      } catch (failure) {
        if (!controller.signal.aborted) setError(failure);
        return null;
      } finally {
        if (asking.current === controller) asking.current = null;
      }
    },
    [id, node, attempt],
  );

  const go = useCallback(
    (place: Place) => {
      asking.current?.abort();
      void read({ ...place }).then((page) => {
        setIsLoading(false);
        if (!page) return;
        keep([page]);
        const isEnd = Object.keys(place).length === 0;
        setJump((last) => ({ number: last.number + 1, around: place.around ?? "", isEnd }));
      });
    },
    [read, keep],
  );

  const older = useCallback(async () => {
    const first = current.current[0];
    if (!first || first.before === 0 || asking.current) return 0;
    const page = await read({ before: first.start });
    if (!page || current.current[0] !== first) return 0;
    const next = withOlder(current.current, page);
    keep(next.pages);
    return next.added;
  }, [read, keep]);

  const newer = useCallback(async () => {
    const last = current.current.at(-1);
    if (!last || asking.current) return;
    const page = await read({ after: last.end });
    if (page && current.current.at(-1) === last) keep(withNewer(current.current, page));
  }, [read, keep]);

  useEffect(() => {
    const timer = setTimeout(() => go({}));
    return () => {
      clearTimeout(timer);
      asking.current?.abort();
    };
  }, [go]);

  useEffect(() => {
    if (!isPassing(error)) return;
    const timer = setTimeout(() => (current.current.length > 0 ? void newer() : go({})), PAUSE);
    return () => clearTimeout(timer);
  }, [error, newer, go]);

  useEffect(() => {
    if (!isFollowing) return;
    return follow(isWritten, () => {
      if (document.hidden && isWritten) return;
      // What is written faster than it is read is left out: whoever follows wants to see the end.
      void newer().then(() => {
        if (!isAtEnd(current.current)) go({});
      });
    });
  }, [isFollowing, isWritten, newer, go]);

  return { pages, error, isLoading, jump, go, older, newer };
}
