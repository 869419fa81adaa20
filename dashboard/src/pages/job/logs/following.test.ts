import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { PHASE_NAMES } from "../../../components/phases";
import { follow, isWriting, stillness } from "./following";

describe("follow", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("reads while the job writes", () => {
    const read = vi.fn();
    const end = follow(true, read);
    vi.advanceTimersByTime(10_000);
    expect(read).toHaveBeenCalledTimes(10);
    end();
    vi.advanceTimersByTime(10_000);
    expect(read).toHaveBeenCalledTimes(10);
  });

  it("reads the rest when the job has ended, and then nothing", () => {
    const read = vi.fn();
    follow(false, read);
    expect(read).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(3_600_000);
    expect(read).toHaveBeenCalledTimes(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("ends at once when it is told to", () => {
    const read = vi.fn();
    follow(false, read)();
    vi.advanceTimersByTime(3_600_000);
    expect(read).toHaveBeenCalledTimes(1);
  });
});

it("says in every phase in which nothing is written why", () => {
  for (const phase of PHASE_NAMES) expect(stillness(phase) === "").toBe(isWriting(phase));
  expect(PHASE_NAMES.filter(isWriting)).toEqual(["Starting", "Running", "Restarting", "Stopping"]);
});
