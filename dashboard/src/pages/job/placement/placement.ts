/** What there is to say about where a job is. Pure. */
import { duration } from "../../../components/format";
import type { Schemas } from "../../../data/client";

type Status = Schemas["JobStatus"];
type Event = Schemas["Event"];

/** The reasons of events that tell of moves, in words. */
const MOVES: Readonly<Record<string, string>> = {
  Moving: "A move was asked for",
  MovingOn: "It goes to the next place",
  Arriving: "It has left",
  Arrived: "It is there",
  Moved: "It has arrived",
  MoveRefused: "It was refused",
};

export interface MoveStep {
  key: string;
  time: string;
  what: string;
  message: string;
}

/** What has happened to a job on its way from place to place, the newest first. */
export function movesOf(events: readonly Event[]): MoveStep[] {
  return events
    .filter((event) => Object.hasOwn(MOVES, event.reason))
    .map(({ seq, time, reason, message }) => ({
      key: String(seq),
      time,
      what: MOVES[reason] ?? reason,
      message,
    }))
    .reverse();
}

/** `from local to ssh/lab (stopping)`; empty: it does not move. */
export function moveText(status: Status): string {
  const move = status.move as { step?: string; from?: string; to?: string } | null | undefined;
  return move ? `from ${move.from} to ${move.to} (${move.step})` : "";
}

/** Where it goes while it waits; empty: it stays where it is. */
export function nextPlaces(status: Status): string {
  const others = status.candidates as
    { places?: string[]; maxWaitSeconds?: number | null } | null | undefined;
  if (!others?.places?.length) return "";
  const { places, maxWaitSeconds } = others;
  const when =
    typeof maxWaitSeconds === "number"
      ? `after it has waited for ${duration(maxWaitSeconds)}`
      : "if it is refused";
  return `${places.join(", then ")}, ${when}`;
}

/** The command that moves a job, its words safe for a shell. Its id is in it: a newer job may have its name by then. */
export function moveCommand(id: string, place: string): string {
  return `trainway jobs move ${quoted(id)} --on ${quoted(place)}`;
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
