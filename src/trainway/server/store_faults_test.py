"""A database that fails under the pages of the dashboard.

Every request says in one sentence what is wrong and what to do. Nothing of it has happened, and the
same request works when the database does again.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from trainway.engine.faulty_store import Faults, broken, faulty_store, full, locked
from trainway.engine.testing import jobset, memory_database
from trainway.json_types import Json
from trainway.server.testing_site import Site, play

ALL = {"cpu": "4"}


@dataclass(frozen=True)
class Ask:
    """A request of a page."""

    path: str
    method: str = "GET"
    body: Json | None = None
    well: int = 200
    """The status of its answer when the database works."""

    async def of(self, site: Site) -> tuple[int, Any]:
        body = [] if self.body is None else [json.dumps(self.body).encode()]
        return await site.ask(self.method, self.path, *body, idempotency_key=f"k {self.path}")


READS = (
    Ask("/windows/jobs?fields=summary&offset=0&limit=50"),
    Ask("/windows/jobs?fields=summary&grouped=true&offset=0&limit=50"),
    Ask("/overview"),
    Ask("/server"),
    Ask("/usage?by=user"),
    Ask("/jobs/second"),
    Ask("/jobs/second/events"),
    Ask("/jobs/second/attempts"),
    Ask("/jobs/second/metrics"),
    Ask("/jobs/second/compiled"),
    Ask("/jobs/second/logs/files", well=409),  # the backend of this test keeps none
    Ask("/jobs/second/logs/window", well=409),
    Ask("/drafts/from/second"),
    Ask("/drafts/check", "POST", {"text": json.dumps(jobset("second")), "rerun": "second"}),
)
WRITES = (
    Ask("/jobs", "POST", {"objects": [jobset("new")]}),
    Ask("/jobs/second", "PATCH", {"note": "look at this"}),
    Ask("/jobs/second/scale", "POST", {"nodes": 2}),
    Ask("/jobs/second/suspend", "POST"),
    Ask("/jobs/second/resume", "POST"),
    Ask("/jobs/second/rerun", "POST"),
    Ask("/jobs/second/cancel", "POST"),
    Ask("/jobs/second", "DELETE"),
)
WORDS = {locked: "is locked by another program", full: "is full", broken: "Input/output error"}


def stored(site: Site) -> list[tuple[str, str, str, str]]:
    """All jobs as the next server would find them."""
    found = site.world.store.unfinished()
    return [(job.name, job.phase, job.note or "", job.demand) for job in found]


def check(answer: tuple[int, Any], words: str) -> None:
    """Compare what a page is told with what it can show."""
    status, body = answer
    assert status == 503, body
    assert words in body["error"]["message"]
    assert body["error"]["hint"]
    assert "Traceback" not in str(body)


@pytest.mark.parametrize("error", WORDS, ids=lambda error: error.__name__)
def test_a_page_is_told_once_what_is_wrong_and_goes_on_after_that(
    error: Callable[[], Exception], tmp_path: Path
) -> None:
    faults = Faults(is_lasting=True, error=error)

    async def scene(site: Site) -> None:
        (await site.world.begun(await site.world.submit("first", requests=ALL))).run()
        await site.world.submit("second", requests={"cpu": "1"})
        for ask in READS:
            faults.arm()
            faults.first = 0
            check(await ask.of(site), WORDS[error])
            faults.heal()
            status, answer = await ask.of(site)
            assert status == ask.well, (ask, answer)
        for ask in WRITES:
            before = stored(site)
            faults.arm()
            faults.first = 0
            check(await ask.of(site), WORDS[error])
            faults.heal()
            assert stored(site) == before, ask
            status, answer = await ask.of(site)
            assert status in (200, 201), (ask, answer)
        names = sorted(name for name, *_ in stored(site))
        assert names == ["first", "new", "second"]

    play(tmp_path, scene, faulty_store(memory_database(), faults))


def test_an_answer_that_was_lost_makes_no_second_job(tmp_path: Path) -> None:
    """The write was done, and only its answer was not."""
    faults = Faults(after=True, is_lasting=True)

    async def scene(site: Site) -> None:
        await site.world.submit("second", requests=ALL)
        ask = Ask("/jobs/second/rerun", "POST")
        for number in range(6):
            faults.arm()
            faults.first = number
            await ask.of(site)
            faults.heal()
            assert (await ask.of(site))[0] == 201
            assert sorted(name for name, *_ in stored(site)) == ["second", "second"]

    play(tmp_path, scene, faulty_store(memory_database(), faults))
