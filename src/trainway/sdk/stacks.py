"""The server's routes for the Python stacks of jobs."""

from typing import Final

from trainway.json_types import Json
from trainway.sdk.rest import Rest
from trainway.sdk.transport import segment

_UNHURRIED_S: Final = 600.0


def take_stacks(rest: Rest, ref: str, rank: int | None = None) -> Json:
    """Take the stacks of a job that runs."""
    found: Json = rest.transport.request(
        "POST", _path(ref), query={"rank": rank}, timeout=_UNHURRIED_S
    )
    return found


def kept_stacks(rest: Rest, ref: str, attempt: int | None = None) -> Json:
    """The stacks that were kept of an attempt, or of the last that has any."""
    found: Json = rest.transport.request("GET", _path(ref), query={"attempt": attempt})
    return found


def of_rank(stacks: Json, rank: int | None) -> Json:
    """The stacks of one rank; without one, all of them."""
    return {**stacks, "ranks": [each for each in stacks["ranks"] if rank in (None, each["rank"])]}


def _path(ref: str) -> str:
    return f"/jobs/{segment(ref)}/stacks"
