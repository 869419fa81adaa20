"""From when to when a pod ran, and whether several ran at the same time.

A pod may come and go between two looks at it, and what it did counts all the same: its containers
keep the times. Times are compared as texts, to the second, as Kubernetes writes them.
"""

from collections.abc import Sequence

from trainway.json_types import Json
from trainway.kube.container_start import started_at

Span = list[str]
"""The begin and the end of a time; the end is empty while the pod runs."""


def span_of(status: Json) -> Span | None:
    """The time for which all containers of a pod ran; None: they did not, or not yet."""
    begins, ends = [], []
    for container in status.get("containerStatuses") or []:
        state = container.get("state") or {}
        told = state.get("running") or state.get("terminated") or {}
        begin = started_at(told)
        if not begin:
            return None
        begins.append(begin)
        if told.get("finishedAt"):
            ends.append(told["finishedAt"])
    if not begins or (ends and min(ends) < max(begins)):
        return None
    return [max(begins), min(ends, default="")]


def share_a_moment(members: Sequence[Sequence[Span]]) -> bool:
    """Whether every member has a span that covers one and the same moment.

    A member has several spans if its pod was replaced. Two moments are tried: when the last member
    first began, and when the last of all began.
    """
    if not all(members):
        return False
    first = max(min(span[0] for span in spans) for spans in members)
    last = max(max(span[0] for span in spans) for spans in members)
    return any(
        all(any(_covers(span, moment) for span in spans) for spans in members)
        for moment in {first, last}
    )


def _covers(span: Span, moment: str) -> bool:
    begin, end = span
    return begin <= moment and (not end or moment <= end)
