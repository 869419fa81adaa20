/** A draft with its two sides: what changes on one side is carried over to the other. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { useDebounced } from "../../components/useDebounced";
import { checkDraft, documentOf, type DraftForm, type DraftReport } from "../../data/drafts";
import { merged } from "./draftMerge";
import { completed } from "./fields";

export interface DraftStart {
  /** None: the text has more than a form can show. */
  form: DraftForm | null;
  text: string;
  backend: string;
}

export interface Draft {
  form: DraftForm | null;
  text: string;
  backend: string;
  report: DraftReport | undefined;
  error: unknown;
  isChecking: boolean;
  edit: (change: Partial<DraftForm>) => void;
  write: (text: string) => void;
  /** The text with all changes of the form in it. */
  settled: () => Promise<string>;
}

const FORM_PAUSE = 250;
const TEXT_PAUSE = 400;
/** Drafts that were left and not submitted, until the page is loaded anew; only the last ones are kept. */
const left = new Map<string, DraftStart>();
const MOST_LEFT = 20;

export function leftDraft(name: string): DraftStart | undefined {
  return left.get(name);
}

export function forgetDraft(name: string): void {
  left.delete(name);
}

export function useDraft(name: string, start: DraftStart, rerun: string): Draft {
  const [form, setForm] = useState(start.form);
  const [text, setText] = useState(start.text);
  const [backend, setBackend] = useState(start.backend);
  const [isWriting, setIsWriting] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const latest = useRef(start.text);
  const pending = useRef<{ from: DraftForm; to: DraftForm; timer: number } | null>(null);
  const chain = useRef<Promise<void>>(Promise.resolve());

  const shown = useDebounced(text, TEXT_PAUSE);
  const check = useQuery({
    queryKey: ["draft", shown, backend, rerun],
    queryFn: ({ signal }) => checkDraft(shown, backend, rerun, signal),
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
  const told = check.data?.form;
  const visible =
    isWriting && check.data && !check.isPlaceholderData ? (told ? completed(told) : null) : form;

  const put = useCallback((next: string) => {
    latest.current = next;
    setText(next);
  }, []);

  const sync = useCallback((): Promise<void> => {
    const wanted = pending.current;
    if (wanted) {
      clearTimeout(wanted.timer);
      pending.current = null;
      chain.current = chain.current.then(async () => {
        try {
          const [before, after] = await Promise.all([documentOf(wanted.from), documentOf(wanted.to)]);
          const next = merged(latest.current, before, after);
          if (next !== null) put(next);
          setFailure(null);
        } catch (error) {
          setFailure(error);
        }
      });
    }
    return chain.current;
  }, [put]);

  useEffect(() => {
    left.delete(name); // so that it counts as the last one
    left.set(name, { form: visible, text, backend });
    for (const oldest of [...left.keys()].slice(0, -MOST_LEFT)) left.delete(oldest);
  }, [name, visible, text, backend]);

  function edit(change: Partial<DraftForm>) {
    if (change.backend !== undefined) setBackend(change.backend);
    if (!visible) return;
    const next = { ...visible, ...change };
    setForm(next);
    setIsWriting(false);
    if (pending.current) clearTimeout(pending.current.timer);
    const from = pending.current?.from ?? visible;
    pending.current = { from, to: next, timer: window.setTimeout(() => void sync(), FORM_PAUSE) };
  }

  function write(next: string) {
    setForm(visible);
    setIsWriting(true);
    put(next);
  }

  const settled = async () => {
    await sync();
    return latest.current;
  };
  const error = failure ?? check.error;
  const isChecking = check.isFetching || shown !== text;
  return { form: visible, text, backend, report: check.data, error, isChecking, edit, write, settled };
}
