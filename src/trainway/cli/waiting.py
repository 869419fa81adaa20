"""Why a job whose log somebody wants to see shows nothing."""

from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

from trainway.cli.output import echo_line
from trainway.cli.views import PlainView
from trainway.json_types import Json
from trainway.sdk.rest import Rest, is_terminal
from trainway.sdk.transport import StreamControl

_REFUSED: Final = "LogsForbidden"
Batch = TypeVar("Batch")


def tell_why_it_waits(rest: Rest, ref: str) -> None:
    """Say on stderr why a job waits, whenever that changes, until it runs or has ended."""
    job = rest.get(ref)
    if not _waits(job):
        return
    view, control = PlainView(), StreamControl()
    for seen in rest.watch(job["metadata"]["id"], control):
        if not _waits(seen):
            return
        if seen["status"].get("message"):
            view.job(seen)


def _waits(job: Json) -> bool:
    return not is_terminal(job) and not job["status"].get("startTime")


def told_if_refused(rest: Rest, ref: str, batches: Iterable[Batch]) -> Iterator[Batch]:
    """The lines of a log; where there are none, say on stderr who keeps them from us."""
    is_silent = True
    for batch in batches:
        is_silent = False
        yield batch
    if is_silent:
        for event in rest.events(ref):
            if event["reason"] == _REFUSED:
                echo_line(f"warning: {event['message']}")
                return
