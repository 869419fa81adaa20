"""The attempts of a job: when each ran, and who ended it. Pure.

What is blamed for the end of an attempt is forgotten when the next one fails (`observation`), so it
is noted here for each of the last ones.
"""

from collections.abc import Collection, Mapping
from typing import Any, Final

from trainway.engine.attempt_runs import Runs, seconds_of
from trainway.engine.failure import culprit_name, culprit_words
from trainway.engine.recovery.cause import Cause, cause_of, cause_of_end
from trainway.json_types import Json

_MOST: Final = 50
"""Attempts of which it is kept; a job may have any number."""


def with_ending(endings: list[Json], attempt: int, culprit: Json, noted: str = "") -> list[Json]:
    """The endings once it is known who is to blame in an attempt; empty: nobody, after all."""
    if culprit and culprit["attempt"] != attempt:
        return endings
    known = next((each for each in endings if each["attempt"] == attempt), {})
    others = [each for each in endings if each["attempt"] != attempt]
    if not culprit:
        return endings if "counts" in known else others
    kept: Json = {name: known[name] for name in ("time", "counts", "place") if name in known}
    since = {"time": noted} if noted else {}
    return _latest([*others, {**culprit, **_cause(culprit), **since, **kept}])


def with_restart(
    endings: list[Json], attempt: int, why: Mapping[str, Any], *, counts: bool
) -> list[Json]:
    """The endings once the set was started anew after an attempt.

    `why` are the reason, message and time that JobSet gives, for an attempt that ended before any
    of its pods did.
    """
    ending = next((each for each in endings if each["attempt"] == attempt), None)
    if ending is None:
        told = {name: str(why[name]) for name in ("reason", "message", "time") if why.get(name)}
        cause = cause_of_end(told.get("reason", ""), {})
        ending = {"attempt": attempt, **told, **({} if cause is None else {"cause": str(cause)})}
    others = [each for each in endings if each["attempt"] != attempt]
    return _latest([*others, {**ending, "counts": counts}])


def with_preemption(
    endings: list[Json], attempt: int, runs: Runs, hosts: Collection[str], why: Json
) -> list[Json]:
    """The endings once it is known that a cloud has taken the machines of an attempt.

    `hosts` are those of the attempt; `why` has the message and the time. The place of the job may
    have said before that a host was lost, and may have begun the next attempt, of which nothing has
    run, or only on other machines of the same gang: it is the lost one that was preempted. An
    attempt that ended for a reason of its own keeps that.
    """
    has_run = any(run["attempt"] == attempt for run in runs)
    last = endings[-1] if endings else None
    is_next = last is not None and int(last["attempt"]) == attempt - 1
    if (
        last is not None
        and is_next
        and (not has_run or _gang(last.get("host")) in map(_gang, hosts))
    ):
        attempt -= 1
    if last is not None and last["attempt"] == attempt and ending_cause(last) is Cause.NODE_LOST:
        kept: Json = {name: last[name] for name in ("time", "host", "place") if name in last}
        why, endings = {**why, **kept}, endings[:-1]
    known = [each for each in endings if each["attempt"] == attempt]
    if known:
        return with_restart(endings, attempt, why, counts=False)
    told: Json = {"attempt": attempt, **why, "reason": str(Cause.PREEMPTED), "counts": False}
    return _latest([*endings, {**told, "cause": str(Cause.PREEMPTED)}])


def _gang(host: str | None) -> str:
    """The gang of a rented machine, which has its name and a number."""
    return (host or "").rpartition("-")[0]


def _latest(endings: list[Json]) -> list[Json]:
    return sorted(endings, key=lambda each: int(each["attempt"]))[-_MOST:]


def _cause(culprit: Json) -> Json:
    cause = cause_of(culprit)
    return {} if cause is None else {"cause": str(cause)}


def ending_cause(ending: Json) -> Cause | None:
    """The cause of an ending; one that an older program stored has none written down."""
    if ending.get("cause") in set(Cause):
        return Cause(ending["cause"])
    return cause_of(ending) if "pod" in ending else None


def ending_words(ending: Json) -> str:
    """Why an attempt ended, in a sentence."""
    if "pod" in ending:
        return f"{culprit_name(ending)} {culprit_words(ending)}"
    return str(ending.get("message") or ending.get("reason") or "")


def endings_view(endings: list[Json]) -> list[Json]:
    """The attempts that ended by themselves, oldest first."""
    return [
        {
            "attempt": each["attempt"],
            **_ending(each),
            "host": each.get("host"),
            "time": each.get("time"),
            "counts": each.get("counts"),
            **({"place": each["place"]} if "place" in each else {}),
        }
        for each in endings
    ]


def attempts_view(observed: Mapping[str, Any], runs: Runs, endings: list[Json]) -> list[Json]:
    """Each attempt that is known, oldest first; `observed` are the columns of the job."""
    newest = int(observed["attempt"])
    blamed = {int(each["attempt"]): each for each in endings}
    numbers = {int(run["attempt"]) for run in runs} | blamed.keys()
    if observed["started"]:
        numbers.add(newest)
    return [
        {
            "attempt": number,
            **_span([run for run in runs if run["attempt"] == number], observed["until"]),
            "isNewest": number == newest,
            **_ending(blamed.get(number)),
        }
        for number in sorted(numbers)
    ]


def _span(runs: Runs, until: str) -> Json:
    if not runs:
        return {"startTime": None, "endTime": None, "seconds": 0.0}
    return {
        "startTime": runs[0]["start"],
        "endTime": runs[-1].get("end"),
        "seconds": round(sum(seconds_of(run, until) for run in runs), 3),
    }


def _ending(ending: Json | None) -> Json:
    if ending is None:
        return {"node": None, "exitCode": None, "cause": "", "reason": None}
    return {
        "node": culprit_name(ending) if "pod" in ending else None,
        "exitCode": ending.get("exitCode"),
        "cause": ending_words(ending),
        "reason": ending_cause(ending),
    }
