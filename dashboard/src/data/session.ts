/** The session of this browser: what shows with every change that a page of the server makes it. */
import { errorOf, isLoggedOut, unreachable } from "./errors";

export interface Session {
  csrf: string;
  expires: string | null;
  version: string;
}

let current: Promise<Session> | null = null;

export function session(): Promise<Session> {
  current ??= read().catch((error: unknown) => {
    current = null;
    throw error;
  });
  return current;
}

export function forgetSession(): void {
  current = null;
}

/** End the session of this browser. */
export async function logOut(): Promise<void> {
  const headers = { "X-Trainway-CSRF": (await session()).csrf };
  const answer = await fetch("/dashboard/logout", {
    method: "POST",
    headers,
    credentials: "same-origin",
  }).catch(() => {
    throw unreachable();
  });
  if (!answer.ok && answer.status !== 401) {
    throw errorOf(answer.status, await answer.json().catch(() => undefined));
  }
  forgetSession();
}

/** Whether the server knows this browser still. */
export async function isLoggedIn(): Promise<boolean> {
  forgetSession();
  return session().then(
    () => true,
    (error: unknown) => {
      if (isLoggedOut(error)) return false;
      throw error;
    },
  );
}

/** Where to log in, to come back to where the page is now. */
export function loginAddress(): string {
  const here = window.location.pathname + window.location.search;
  return `/dashboard/login?next=${encodeURIComponent(here)}`;
}

async function read(): Promise<Session> {
  const answer = await fetch("/dashboard/session", { credentials: "same-origin" }).catch(() => {
    throw unreachable();
  });
  const body: unknown = await answer.json().catch(() => undefined);
  if (!answer.ok) throw errorOf(answer.status, body);
  return body as Session;
}
