"""Where there is no table, it is said once what a search waits for."""

import pytest

from trainway.cli.run_following import NoView
from trainway.json_types import Json


def run(waiting: str | None) -> Json:
    return {"status": {"phase": "Running", "waiting": waiting}}


def test_what_a_search_waits_for_is_said_once_each_time(capsys: pytest.CaptureFixture[str]) -> None:
    view = NoView()
    for why in (None, "the disk is full", "the disk is full", None, "the disk is full", "gone\x1b"):
        view.run(run(why))
    assert capsys.readouterr().err.splitlines() == [
        "the search waits: the disk is full",
        "the search waits: the disk is full",
        "the search waits: gone\\x1b",
    ]


def test_other_runs_say_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    NoView().run({"status": {"phase": "Running"}})
    assert capsys.readouterr().err == ""
