/**
 * Answers that were asked for before the code was there that shows them. Each is given once, and only soon
 * after: what somebody opens later is asked for anew.
 */

interface Asked {
  answer: Promise<Response>;
  at: number;
}

const FRESH = 5_000;
const asked = new Map<string, Asked>();

export function askEarly(url: string): void {
  const answer = fetch(url, { headers: { Accept: "application/json" }, credentials: "same-origin" });
  answer.catch(() => undefined); // whoever takes it is told
  asked.set(url, { answer, at: performance.now() });
}

/** The answer that is on its way; undefined: nobody has asked for it. */
export function earlyAnswer(url: string): Promise<Response> | undefined {
  const found = asked.get(url);
  asked.delete(url);
  return found && performance.now() - found.at < FRESH ? found.answer : undefined;
}
