import { expect, test } from "vitest";
import type { Schemas } from "../../../data/client";
import { moveCommand, movesOf, moveText, nextPlaces } from "./placement";

type Status = Schemas["JobStatus"];
type Event = Schemas["Event"];

function event(seq: number, reason: string): Event {
  return { seq, reason, time: "2026-11-17T03:00:00Z", message: `it is ${seq}` } as Event;
}

test("only events of moves are told, the newest first", () => {
  const events = [event(1, "Created"), event(2, "Moving"), event(3, "Moved"), event(4, "toString")];
  expect(movesOf(events).map(({ key, what }) => [key, what])).toEqual([
    ["3", "It has arrived"],
    ["2", "A move was asked for"],
  ]);
});

test("where it goes is said in words", () => {
  const status = { move: { step: "stopping", from: "local", to: "ssh/lab" } } as unknown as Status;
  expect(moveText(status)).toBe("from local to ssh/lab (stopping)");
  expect(moveText({} as Status)).toBe("");
  const candidates = { places: ["ssh/lab", "slurm/hpc"], maxWaitSeconds: 600 };
  expect(nextPlaces({ candidates } as unknown as Status)).toBe(
    "ssh/lab, then slurm/hpc, after it has waited for 10 min",
  );
  expect(nextPlaces({ candidates: { places: ["local"] } } as unknown as Status)).toBe(
    "local, if it is refused",
  );
  expect(nextPlaces({} as Status)).toBe("");
});

test("a command is safe to type", () => {
  expect(moveCommand("train", "ssh/lab")).toBe("trainway jobs move train --on ssh/lab");
  expect(moveCommand("it's; rm", "local")).toBe("trainway jobs move 'it'\\''s; rm' --on local");
});
