/** What to do about a job that failed: the table of docs/failed.md. Pure. */
import type { Schemas } from "../../data/client";

interface Rule {
  matches: RegExp;
  advice: string;
}

const RULES: readonly Rule[] = [
  { matches: /ran out of memory|OOMKilled/i, advice: "Request more memory, or use smaller batches." },
  {
    matches: /hung:/,
    advice: "The stacks in the tab Attempts show where each process was when it was ended.",
  },
  {
    matches: /exited with 127|could not be started/,
    advice: "The program was not found or cannot be run: check the command and its PATH.",
  },
  {
    matches: /exited with 126/,
    advice: "The program is not executable: check its permissions and its first line.",
  },
  {
    matches: /SIGSEGV|SIGBUS|SIGILL/,
    advice:
      "Native code crashed, often since CUDA, driver and torch do not match. Run it with PYTHONFAULTHANDLER=1.",
  },
  {
    matches: /DeadlineExceeded|deadline/i,
    advice: "The job ran longer than its timeout allows: give it more time, or make it faster.",
  },
  {
    matches: /NODE_FAIL|NodeLost|Evicted|Preempt|DeletionByTaintManager/i,
    advice:
      "The machine failed or was taken away, not your program: run the job again. With restarts this happens by itself.",
  },
  {
    matches: /ImagePull|ErrImage|InvalidImageName/i,
    advice: "The image cannot be pulled: check its name, and that the nodes may read it.",
  },
  { matches: /exited with/, advice: "Your program raised an error: read its last lines below." },
];

const USUAL = "Read the events, which tell what happened in order, and the logs.";

export function adviceFor(status: Pick<Schemas["JobStatus"], "reason" | "message" | "failure">): string {
  const failure = status.failure as { summary?: string } | null | undefined;
  const told = [failure?.summary, status.reason, status.message].filter(Boolean).join(" ");
  return RULES.find((rule) => rule.matches.test(told))?.advice ?? USUAL;
}
