import { notifyManager, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ApiError } from "./errors";
import { queryClient } from "./queries";

const HOUR = 3_600_000;

beforeEach(() => void vi.useFakeTimers());

afterEach(() => {
  queryClient.clear();
  vi.useRealTimers();
});

/** Looks at something that fails so many times first. */
function look(failures: number, error: Error) {
  let left = failures;
  const queryFn = vi.fn(() => (left-- > 0 ? Promise.reject(error) : Promise.resolve("here")));
  const observer = new QueryObserver<string>(queryClient, { queryKey: ["looked at"], queryFn, retry: false });
  return { queryFn, observer, stop: observer.subscribe(() => undefined) };
}

it("reads what failed again until it works", async () => {
  const { queryFn, observer, stop } = look(2, new ApiError(503, "database", "the database is locked"));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(observer.getCurrentResult().data).toBe("here");
  expect(queryFn).toHaveBeenCalledTimes(3);
  stop();
});

it("asks no more for what nobody looks at", async () => {
  const { queryFn, stop } = look(Infinity, new ApiError(503, "database", "the disk is full"));
  await vi.advanceTimersByTimeAsync(1_000);
  stop();
  await vi.advanceTimersByTimeAsync(HOUR);
  expect(queryFn).toHaveBeenCalledTimes(1);
});

it("does not repeat what was refused", async () => {
  const { queryFn, stop } = look(Infinity, new ApiError(404, "not_found", "there is no job 'x'"));
  await vi.advanceTimersByTimeAsync(HOUR);
  expect(queryFn).toHaveBeenCalledTimes(1);
  stop();
});

it("keeps nothing for long that nobody looks at", async () => {
  look(0, new Error("never")).stop();
  for (let number = 0; number < 100; number += 1) queryClient.setQueryData(["window", number], "rows");
  expect(queryClient.getQueryCache().getAll().length).toBeGreaterThan(100);
  await vi.advanceTimersByTimeAsync(HOUR);
  expect(queryClient.getQueryCache().getAll()).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

it("goes on to show what failed while that is read again", async () => {
  const seen: string[] = [];
  let left = 2;
  const queryFn = async () => {
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    if (left-- > 0) throw new ApiError(503, "database", "the database is locked");
    return "here";
  };
  const observer = new QueryObserver<string>(queryClient, { queryKey: ["shown"], queryFn, retry: false });
  const look = () => {
    const { error, data } = observer.getCurrentResult();
    seen.push(error?.message ?? data ?? "nothing yet");
  };
  const stop = observer.subscribe(notifyManager.batchCalls(look)); // as React looks
  await vi.advanceTimersByTimeAsync(60_000);
  stop();
  const first = seen.indexOf("the database is locked");
  expect(first).toBeGreaterThanOrEqual(0);
  expect(seen.slice(first)).not.toContain("nothing yet");
  expect(seen.at(-1)).toBe("here");
});
