import { afterEach, expect, it, vi } from "vitest";
import { address, change, get } from "./client";
import { ApiError, errorOf, isPassing } from "./errors";
import { forgetSession } from "./session";

type Reply = [number, unknown] | Error;

function server(...replies: Reply[]) {
  const calls: { url: string; init: RequestInit }[] = [];
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    calls.push({ url, init });
    const reply = replies.shift() ?? new Error("not expected");
    if (reply instanceof Error) return Promise.reject(reply);
    return Promise.resolve(new Response(JSON.stringify(reply[1]), { status: reply[0] }));
  });
  return calls;
}

afterEach(() => {
  vi.unstubAllGlobals();
  forgetSession();
});

it("makes an address of a path and its parameters", () => {
  expect(address("/api/v1/jobs/{ref}", { ref: "a/b ?" })).toBe("/api/v1/jobs/a%2Fb%20%3F");
  expect(address("/jobs", {}, { label: ["a=b", "c"], name: "", limit: 5, cursor: undefined })).toBe(
    "/jobs?label=a%3Db&label=c&limit=5",
  );
});

it("shows the token of the session with a change, and not with a question", async () => {
  const calls = server([200, {}], [200, { csrf: "secret" }], [200, {}], [200, {}]);
  await get("/api/v1/jobs/{ref}", { path: { ref: "a" } });
  await change("post", "/api/v1/jobs/{ref}/cancel", { path: { ref: "a" } });
  await change("post", "/api/v1/jobs/{ref}/suspend", { path: { ref: "a" } });
  expect(calls.map((call) => call.url)).toEqual([
    "/api/v1/jobs/a",
    "/dashboard/session",
    "/api/v1/jobs/a/cancel",
    "/api/v1/jobs/a/suspend",
  ]);
  expect(calls[0]?.init.headers).not.toHaveProperty("X-Trainway-CSRF");
  expect(calls[2]?.init.headers).toHaveProperty("X-Trainway-CSRF", "secret");
});

it("reads the session again when another tab has logged in anew", async () => {
  const refused: Reply = [403, { error: { code: "csrf", message: "a change needs the header" } }];
  const calls = server([200, { csrf: "old" }], refused, [200, { csrf: "new" }], [200, {}]);
  await change("post", "/api/v1/jobs/{ref}/cancel", { path: { ref: "a" } });
  expect(calls[3]?.init.headers).toHaveProperty("X-Trainway-CSRF", "new");
});

it("tells all that the server says of an error", async () => {
  server([
    422,
    { error: { code: "usage", message: "no", field: "phase", hint: "there are" }, errors: ["a", "b"] },
  ]);
  const error: unknown = await get("/api/v1/jobs").catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({
    status: 422,
    message: "no",
    field: "phase",
    hint: "there are",
    reasons: ["a", "b"],
  });
});

it("makes an error of whatever is no answer of the server", async () => {
  server(new TypeError("network"));
  await expect(get("/api/v1/jobs")).rejects.toMatchObject({ code: "unreachable", status: 0 });
  for (const body of [undefined, null, "<html>", { error: 3 }, []]) {
    expect(errorOf(502, body).message).toBe("The server answered with status 502.");
  }
  expect(isPassing(errorOf(503, null))).toBe(true);
  expect(isPassing(errorOf(404, null))).toBe(false);
});
