/** What to do about a job that failed: the table of docs/failed.md. Pure. */
import type { Schemas } from "../../data/client";

interface Rule {
  /** The causes of it, as the server names them; none: only the words tell it. */
  causes?: readonly string[];
  matches: RegExp;
  advice: string;
}

const RULES: readonly Rule[] = [
  {
    causes: ["OutOfMemory"],
    matches: /ran out of memory|OOMKilled/i,
    advice: "Request more memory, or use smaller batches.",
  },
  {
    causes: ["Hang"],
    matches: /hung:/,
    advice: "The stacks in the tab Attempts show where each process was when it was ended.",
  },
  {
    causes: ["Timeout"],
    matches: /DeadlineExceeded|deadline/i,
    advice: "The job ran longer than its timeout allows: give it more time, or make it faster.",
  },
  {
    causes: ["Budget"],
    matches: /BudgetExceeded/,
    advice:
      "All that it may cost is spent: run it again with a larger budget. The page Costs has those of users and labels.",
  },
  {
    causes: ["NodeLost", "Preempted"],
    matches: /NODE_FAIL|NodeLost|Evicted|Preempt|DeletionByTaintManager/i,
    advice:
      "The machine failed or was taken away, not your program: run the job again. With restarts this happens by itself.",
  },
  {
    causes: ["AgentLost"],
    matches: /AgentLost/,
    advice: "It was not your program, unless that took all memory: run the job again.",
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
    matches: /ImagePull|ErrImage|InvalidImageName/i,
    advice: "The image cannot be pulled: check its name, and that the nodes may read it.",
  },
  { matches: /exited with/, advice: "Your program raised an error: read its last lines below." },
  { matches: /was killed by/, advice: "A signal ended your program: read its last lines below." },
  { matches: /\bRefused\b/, advice: "Change what the message names, and submit the job again." },
];

const USUAL = "Read the events, which tell what happened in order, and the logs.";

type Told = Pick<Schemas["JobStatus"], "reason" | "message" | "failure" | "cause">;

/** By the cause, where the server knows it: what a program said last may be the words of another one. */
export function adviceFor({ reason, message, failure, cause }: Told): string {
  const { summary } = (failure ?? {}) as { summary?: string };
  const told = [summary, reason, message, cause].filter(Boolean).join(" ");
  const rule = RULES.find(({ causes, matches }) =>
    cause && causes ? causes.includes(cause) : matches.test(told),
  );
  return rule?.advice ?? USUAL;
}
