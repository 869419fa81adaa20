"""The attempts of a job: when each ran, and who ended it. Pure.

What is blamed for the end of an attempt is forgotten when the next one fails (`observation`), so it
is noted here for each of the last ones.
"""

from collections.abc import Mapping
from typing import Any, Final

from trainway.engine.attempt_runs import Runs, seconds_of
from trainway.engine.failure import culprit_name, culprit_words
from trainway.json_types import Json

_MOST: Final = 50
"""Attempts of which it is kept; a job may have any number."""


def with_ending(endings: list[Json], attempt: int, culprit: Json) -> list[Json]:
    """The endings once it is known who is to blame in an attempt; empty: nobody, after all."""
    others = [each for each in endings if each["attempt"] != attempt]
    if not culprit:
        return others
    if culprit["attempt"] != attempt:
        return endings
    return sorted([*others, culprit], key=lambda each: int(each["attempt"]))[-_MOST:]


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


def _ending(culprit: Json | None) -> Json:
    if culprit is None:
        return {"node": None, "exitCode": None, "cause": ""}
    return {
        "node": culprit_name(culprit),
        "exitCode": culprit.get("exitCode"),
        "cause": f"{culprit_name(culprit)} {culprit_words(culprit)}",
    }
