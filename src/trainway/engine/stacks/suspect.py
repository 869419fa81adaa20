"""Which rank of a job that hangs is to blame, as far as the stacks tell. Pure."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from trainway.json_types import Json

_ENOUGH: Final = 2
"""Ranks that must be in the same call before one that is elsewhere stands out."""


def suspect(ranks: Sequence[Json]) -> Json:
    """The rank that is elsewhere than most of the others; else the first one."""
    places = {rank["node"]: place_of(rank) for rank in ranks}
    counts = Counter(place for place in places.values() if place)
    usual = [place for place, count in counts.items() if count >= _ENOUGH]
    odd = [rank for rank in ranks if places[rank["node"]] not in ("", *usual)]
    if len(odd) == 1 and usual:
        return odd[0]
    if len(ranks) == _ENOUGH and len(counts) == _ENOUGH:
        waiting = [rank for rank in ranks if not _waits_for_others(rank)]
        return waiting[0] if len(waiting) == 1 else ranks[0]
    return ranks[0]


def place_of(rank: Json) -> str:
    """Where the main thread of the first process is: its innermost call; empty: not known."""
    for process in rank["processes"]:
        for thread in process["threads"]:
            if thread["main"] and thread["frames"]:
                frame = thread["frames"][0]
                return f"{frame['function']} ({frame['file']}:{frame['line']})"
    return ""


def _waits_for_others(rank: Json) -> bool:
    """Whether its innermost call looks like waiting for another rank."""
    call = place_of(rank).partition(" (")[0].lower()
    return any(word in call for word in _WAITING)


_WAITING: Final = ("accept", "recv", "barrier", "all_reduce", "all_gather", "broadcast", "wait")
