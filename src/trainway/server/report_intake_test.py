"""A report has the same answer on its short way as on the way of all requests."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from trainway.server.testing_site import Site, play

GOOD = b'{"trainerStatus": {"progressPercentage": 7, "lastUpdatedTime": "2026-01-01T00:00:00Z"}}'


@dataclass(frozen=True)
class Case:
    """A request."""

    name: str
    body: bytes
    status: int
    path: str = "/jobs/demo/progress"


@pytest.mark.parametrize(
    "case",
    [
        Case("good", GOOD, 200),
        Case("nothing reported", b"{}", 200),
        Case("too much", GOOD.replace(b"7,", b"101,"), 422),
        Case("endless", GOOD.replace(b"7,", b"1e999,"), 422),
        Case("no JSON", b"{", 422),
        Case("no UTF-8", b"\xff", 422),
        Case("empty", b"", 422),
        Case("deep", b"[" * 9000, 422),
        Case("of no job", GOOD, 404, "/jobs/nobody/progress"),
        Case("odd name", GOOD, 404, "/jobs/a b/progress"),
        Case("large", GOOD + b" " * 200_000, 200),
    ],
    ids=lambda case: case.name,
)
def test_both_ways_answer_alike(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene(site: Site) -> None:
        await site.world.submit()
        short = await site.ask("POST", case.path, case.body)
        shown = (await site.ask("GET", "/jobs/demo"))[1]["status"]["progress"]
        monkeypatch.setattr("trainway.server.report_intake._reporting_job", lambda _scope: None)
        assert short == await site.ask("POST", case.path, case.body)
        assert short[0] == case.status
        assert shown == (await site.ask("GET", "/jobs/demo"))[1]["status"]["progress"]

    play(tmp_path, scene)


def test_a_body_may_come_in_pieces(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        await site.world.submit()
        pieces = [b" " * 40_000] * 3 + [GOOD]
        assert (await site.ask("POST", "/jobs/demo/progress", *pieces))[0] == 200
        progress = (await site.ask("GET", "/jobs/demo/progress"))[1]["trainerStatus"]
        assert progress["progressPercentage"] == 7

    play(tmp_path, scene)
