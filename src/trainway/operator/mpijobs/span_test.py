from dataclasses import dataclass

import pytest

from trainway.json_types import Json
from trainway.operator.mpijobs.span import Span, share_a_moment, span_of


def at(second: int) -> str:
    return f"2026-01-31T12:00:{second:02}Z"


def runs(second: int) -> Json:
    return {"state": {"running": {"startedAt": at(second)}}}


def ran(begin: int, end: int) -> Json:
    return {"state": {"terminated": {"startedAt": at(begin), "finishedAt": at(end)}}}


WAITS: Json = {"state": {"waiting": {"reason": "ContainerCreating"}}}
NEVER_STARTED: Json = {"state": {"terminated": {"startedAt": None, "finishedAt": None}}}
COULD_NOT_START: Json = {
    "state": {"terminated": {"startedAt": "1970-01-01T00:00:00Z", "finishedAt": at(1)}}
}


@dataclass(frozen=True)
class Case:
    name: str
    containers: tuple[Json, ...]
    span: Span | None


@pytest.mark.parametrize(
    "case",
    [
        Case("no containers yet", (), None),
        Case("waits", (WAITS,), None),
        Case("one waits", (runs(1), WAITS), None),
        Case("never started", (NEVER_STARTED,), None),
        Case("could not be started", (COULD_NOT_START,), None),
        Case("runs", (runs(1), runs(3)), [at(3), ""]),
        Case("has ended", (ran(1, 5), ran(2, 4)), [at(2), at(4)]),
        Case("one has ended", (ran(1, 5), runs(2)), [at(2), at(5)]),
        Case("never all at once", (ran(1, 2), runs(3)), None),
    ],
    ids=lambda case: case.name,
)
def test_span(case: Case) -> None:
    assert span_of({"containerStatuses": list(case.containers)}) == case.span


def test_a_pod_without_status_has_no_span() -> None:
    assert span_of({}) is None


@pytest.mark.parametrize(
    ("members", "shared"),
    [
        ([[[at(1), ""]], [[at(9), ""]]], True),
        ([[[at(1), ""]], []], False),
        ([[[at(1), at(4)]], [[at(4), at(5)]]], True),
        ([[[at(1), at(3)]], [[at(4), ""]]], False),
        ([[[at(1), ""]], [[at(2), at(3)], [at(8), ""]], [[at(3), at(4)]]], True),
        ([[[at(1), ""]], [[at(2), at(3)], [at(8), ""]], [[at(5), ""]]], True),
        ([[[at(5), ""]], [[at(2), at(3)], [at(8), at(9)]], [[at(1), at(6)]]], False),
    ],
    ids=[
        "all run",
        "one never began",
        "for a moment",
        "one after the other",
        "before one was replaced",
        "after one was replaced",
        "never",
    ],
)
def test_share_a_moment(members: list[list[Span]], shared: bool) -> None:
    assert share_a_moment(members) is shared
