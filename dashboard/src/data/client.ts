/**
 * Calls of the server's API, typed by its own description.
 *
 * The page is served by the server it calls, and a cookie says who is logged in. Every change shows the
 * token of the session too, which pages of other sites cannot read.
 */
import type { components, paths } from "@api";
import { earlyAnswer } from "./early";
import { ApiError, errorOf, unreachable } from "./errors";
import { forgetSession, session } from "./session";

export type Schemas = components["schemas"];
export type Method = "get" | "post" | "put" | "patch" | "delete";
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P][M] extends undefined ? never : P;
}[keyof paths];

type Operation<P extends keyof paths, M extends Method> = NonNullable<paths[P][M]>;
type Part<O, N extends string> = O extends { parameters: Partial<Record<N, infer T>> } ? T : never;
type Body<O> = O extends { requestBody?: { content: { "application/json": infer B } } } ? B : never;
type Content<R> = R extends { content: { "application/json": infer C } } ? C : never;
type Responses<O> = O extends { responses: infer R } ? R : never;
export type Answer<P extends keyof paths, M extends Method> = Content<
  Responses<Operation<P, M>>[keyof Responses<Operation<P, M>> & (200 | 201)]
>;
export interface Options<P extends keyof paths, M extends Method> {
  path?: Part<Operation<P, M>, "path">;
  query?: Part<Operation<P, M>, "query">;
  body?: Body<Operation<P, M>>;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** What a path of the API and its parameters are as an address. */
export function address(path: string, params: object = {}, query: object = {}): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String((params as Record<string, unknown>)[name] ?? "")),
  );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (each !== undefined && each !== null && each !== "") search.append(name, String(each));
    }
  }
  return search.size > 0 ? `${filled}?${search}` : filled;
}

/** Asks the server: `get("/api/v1/jobs/{ref}", { path: { ref } })`. */
export function get<P extends PathOf<"get">>(path: P, options: Options<P, "get"> = {}) {
  return call("get", path, options);
}

/** Changes something: `change("post", "/api/v1/jobs/{ref}/cancel", { path: { ref } })`. */
export function change<M extends Exclude<Method, "get">, P extends PathOf<M>>(
  method: M,
  path: P,
  options: Options<P, M> = {},
) {
  return call(method, path, options);
}

async function call<M extends Method, P extends PathOf<M>>(
  method: M,
  path: P,
  options: Options<P, M>,
): Promise<Answer<P, M>> {
  const url = address(path, options.path as object, options.query as object);
  const send = async () => fetched(url, await request(method, options));
  try {
    return (await send()) as Answer<P, M>;
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "csrf") throw error;
    forgetSession(); // somebody has logged in anew in another tab
    return (await send()) as Answer<P, M>;
  }
}

async function request(
  method: Method,
  options: { body?: unknown; headers?: Record<string, string>; signal?: AbortSignal },
): Promise<RequestInit> {
  const headers: Record<string, string> = { Accept: "application/json", ...options.headers };
  if (method !== "get") headers["X-Trainway-CSRF"] = (await session()).csrf;
  if (options.body !== undefined) headers["Content-Type"] = "application/json";
  return {
    method: method.toUpperCase(),
    headers,
    credentials: "same-origin",
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    ...(options.signal ? { signal: options.signal } : {}),
  };
}

/** The JSON that is at an address; an error of the server, or that it does not answer, is thrown. */
export async function fetched(url: string, init: RequestInit): Promise<unknown> {
  const signal = init.signal;
  const early = init.method === "GET" ? earlyAnswer(url) : undefined;
  const answer = await (early ?? fetch(url, init)).catch((error: unknown) => {
    throw signal?.aborted ? error : unreachable();
  });
  const text = await answer.text().catch(() => "");
  let body: unknown;
  try {
    body = text ? JSON.parse(text) : undefined;
  } catch {
    body = undefined;
  }
  if (!answer.ok) throw errorOf(answer.status, body);
  return body;
}
