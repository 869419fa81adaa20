from typing import Any

from trainway.cli.schedule_text import HEADER, created_line, lines, row
from trainway.json_types import Json


def _schedule(*, paused: bool = False, **status: Any) -> Json:
    spec = {
        "cron": "0 3 * * *", "timezone": "Europe/Berlin", "catchUp": "once", "overlap": "forbid",
        "paused": paused, "backend": "local", "kind": "JobSet",
    }  # fmt: skip
    known: Json = {
        "next": "2026-11-18T02:00:00.000000Z", "last": None, "due": [], "waiting": None,
        "activeJobs": [],
    }  # fmt: skip
    return {"metadata": {"name": "nightly"}, "spec": spec, "status": {**known, **status}}


FIRED = {
    "time": "2026-11-17T02:00:00.000000Z", "result": "Skipped", "message": "a had not ended",
    "job": None, "run": None,
}  # fmt: skip


def test_times_are_those_of_its_zone() -> None:
    assert len(HEADER) == len(row(_schedule()))
    assert row(_schedule())[3:] == ["2026-11-18 03:00", "-", "-"]
    assert row(_schedule(paused=True, last=FIRED))[3:] == ["paused", "2026-11-17 03:00", "Skipped"]
    assert created_line(_schedule()) == "nightly runs next at 2026-11-18 03:00 Europe/Berlin"
    assert "trainway schedule resume nightly" in created_line(_schedule(paused=True))


def test_all_of_it_in_lines() -> None:
    due = ["2026-11-17T02:00:00.000000Z"]
    shown = lines(_schedule(last=FIRED, due=due, waiting="the disk is full", activeJobs=["x"]))
    assert "Last:      2026-11-17 03:00 Skipped: a had not ended" in shown
    assert "Due:       2026-11-17 03:00: the disk is full" in shown
    assert "Running:   x" in shown
    assert "Problem:   there is no zone" in lines(_schedule(waiting="there is no zone"))
    made = {**FIRED, "result": "Submitted", "message": "", "job": "j1"}
    assert "Last:      2026-11-17 03:00 Submitted, job j1" in lines(_schedule(last=made))
