import { afterEach, expect, it, vi } from "vitest";
import { get } from "./client";
import { askEarly, earlyAnswer } from "./early";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function server(): () => number {
  const answers = vi.fn(() => Promise.resolve(new Response('{"items": []}')));
  vi.stubGlobal("fetch", answers);
  return () => answers.mock.calls.length;
}

it("is given once, to whoever asks for the same", async () => {
  const calls = server();
  askEarly("/api/v1/backends");
  expect(await get("/api/v1/backends")).toEqual({ items: [] });
  expect(calls()).toBe(1);
  await get("/api/v1/backends");
  expect(calls()).toBe(2);
});

it("is not given to whoever comes late", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  server();
  askEarly("/api/v1/server");
  vi.advanceTimersByTime(6_000);
  expect(earlyAnswer("/api/v1/server")).toBeUndefined();
});

it("tells of a server that does not answer", async () => {
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("failed")));
  askEarly("/api/v1/server");
  await expect(get("/api/v1/server")).rejects.toMatchObject({ code: "unreachable" });
});
