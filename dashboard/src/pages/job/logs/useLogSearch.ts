import { useCallback, useEffect, useRef, useState } from "react";
import { get, type Schemas } from "../../../data/client";
import { choiceQuery, type LogChoice } from "./pages";

/** More matches than anybody reads are not collected. */
const MOST = 500;

export interface LogSearchState {
  text: string;
  matches: Schemas["LogMatch"][];
  /** Which share of the log was searched, from 0 to 1. */
  share: number;
  isRunning: boolean;
  error: unknown;
}

const NOTHING: LogSearchState = { text: "", matches: [], share: 0, isRunning: false, error: null };

/** Has the server search the log, part by part, until all was searched or enough was found. */
export function useLogSearch(id: string, choice: LogChoice) {
  const [state, setState] = useState<LogSearchState>(NOTHING);
  const controller = useRef<AbortController | null>(null);
  const { node, attempt } = choice;

  const clear = useCallback(() => {
    controller.current?.abort();
    setState(NOTHING);
  }, []);

  const search = useCallback(
    async (text: string) => {
      controller.current?.abort();
      if (!text) return setState(NOTHING);
      const mine = new AbortController();
      controller.current = mine;
      let matches: Schemas["LogMatch"][] = [];
      setState({ ...NOTHING, text, isRunning: true });
      try {
        for (let after: string | null = ""; after !== null;) {
          const found: Schemas["LogMatches"] = await get("/api/v1/jobs/{ref}/logs/search", {
            path: { ref: id },
            query: { ...choiceQuery({ node, attempt }), text, after },
            signal: mine.signal,
          });
          matches = [...matches, ...found.items].slice(0, MOST);
          after = matches.length < MOST ? found.next : null;
          const share = found.size > 0 ? found.searched / found.size : 1;
          setState({ text, matches, share, isRunning: after !== null, error: null });
        }
      } catch (error) {
        if (!mine.signal.aborted) setState({ text, matches, share: 0, isRunning: false, error });
      }
    },
    [id, node, attempt],
  );

  useEffect(() => () => controller.current?.abort(), []);
  return { ...state, isFull: state.matches.length >= MOST, search, clear };
}
