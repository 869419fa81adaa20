"""Why a job that somebody wants to follow has not written anything yet."""

from trainway.cli.views import PlainView
from trainway.json_types import Json
from trainway.sdk.rest import Rest, is_terminal
from trainway.sdk.transport import StreamControl


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
