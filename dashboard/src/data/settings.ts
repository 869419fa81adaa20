/** What the settings show and change: notifications, sessions, and the server's token. */
import { queryOptions } from "@tanstack/react-query";
import { change, get, type Schemas } from "./client";
import { isPassing, isLoggedOut } from "./errors";
import { isLoggedIn } from "./session";

export type BrowserSession = Schemas["SessionInfo"];
export type TestResult = Schemas["NotifyResult"];

export const notifyQuery = queryOptions({
  queryKey: ["notify"],
  queryFn: async ({ signal }) => (await get("/api/v1/notify", { signal })).items,
});

export const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: async ({ signal }) => (await get("/api/v1/dashboard/sessions", { signal })).items,
  refetchInterval: 30_000,
});

/** Sends a test to a target; empty: to all of them. */
export async function sendTest(target: string): Promise<TestResult[]> {
  return (await change("post", "/api/v1/notify/test", { body: { target } })).items;
}

export function endSession(session: string): Promise<unknown> {
  return change("delete", "/api/v1/dashboard/sessions/{session}", { path: { session } });
}

export function endOtherSessions(keep: string): Promise<unknown> {
  return change("delete", "/api/v1/dashboard/sessions", { query: { keep } });
}

/**
 * Has the server take another token.
 *
 * That ends this session too, so that the answer, in which the token is, does not come here: it is for the
 * server's machine alone. Whether it was done shows in whether this browser is logged in still.
 */
export async function replaceToken(): Promise<void> {
  try {
    await change("post", "/api/v1/server/token");
  } catch (error) {
    if (!isPassing(error) && !isLoggedOut(error)) throw error;
    if (await isLoggedIn()) throw error;
  }
}
