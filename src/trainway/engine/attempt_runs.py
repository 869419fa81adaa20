"""When the attempts of a job ran: the spans in which at least one of its pods did. Pure.

A job that waits, is suspended, or stands between two attempts uses nothing. Spans are plain data
that the store keeps with what else was observed of a job, so that they survive a restart of the
server, and they come from the times of the journal, so that they do not depend on who watched.
"""

from typing import Final

from trainway.jobset.status import moment
from trainway.json_types import Json

_MOST: Final = 100
"""Spans that are kept of one job; beyond, the oldest two become one."""

Runs = list[Json]
"""Spans, oldest first: `attempt`, `start`, `end` once it is over, `seconds` of one that was joined
of several."""


def begun(runs: Runs, attempt: int, started: str, noted: str) -> None:
    """A pod of an attempt runs, since `started` as far as is known, and surely when noted."""
    last = runs[-1] if runs else None
    if last is not None and "end" not in last:
        if attempt <= last["attempt"]:
            return
        last["end"] = noted
    start = started or noted
    if last is not None and moment(start) < moment(last["end"]):
        start = last["end"]
    runs.append({"attempt": attempt, "start": start})
    if len(runs) > _MOST:
        runs[:2] = [_joined(*runs[:2])]


def passed(runs: Runs, attempt: int, started: str, noted: str) -> None:
    """A pod has run and ended before anybody noted that it ran."""
    last = runs[-1] if runs else None
    if last is not None and "end" not in last:
        return
    if last is not None and last["attempt"] == attempt and moment(started) <= moment(last["end"]):
        last["end"] = max(last["end"], noted, key=moment)
        return
    begun(runs, attempt, started, noted)
    stopped(runs, noted)


def stopped(runs: Runs, noted: str) -> None:
    """No pod runs any more."""
    if runs and "end" not in runs[-1] and noted:
        runs[-1]["end"] = noted


def seconds_of(run: Json, until: str, since: str = "") -> float:
    """How long a span was, or is at `until`; of one that began before `since` only the rest."""
    end = moment(run.get("end") or until)
    start = moment(run["start"])
    if since and moment(since) > start:
        start = moment(since)
    elif "seconds" in run:
        return float(run["seconds"])
    return max((end - start).total_seconds(), 0.0)


def _joined(first: Json, second: Json) -> Json:
    seconds = sum(seconds_of(run, run["end"]) for run in (first, second))
    return {**second, "start": first["start"], "seconds": seconds}
