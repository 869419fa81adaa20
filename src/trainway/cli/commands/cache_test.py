"""How `trainway cache ls` says that a cache stands."""

from dataclasses import dataclass
from typing import Any

import pytest

from trainway.cli.commands.cache import standing

SILENT = ("Starting", "its head does not answer yet: timed out")
NO_TABLE = {"state": "Loading", "message": "there is nothing at s3://b/t"}


@dataclass(frozen=True)
class Case:
    id: str
    seen: tuple[str, str]
    told: dict[str, Any]
    in_pods: bool
    shown: tuple[str, str]


@pytest.mark.parametrize(
    "case",
    [
        Case("seen", ("Ready", ""), {"state": "Running"}, False, ("Ready", "")),
        Case("nobody knows", SILENT, {}, False, SILENT),
        Case("begins", SILENT, {"state": "Running", "message": ""}, False, SILENT),
        Case("no way to it", SILENT, {"state": "Ready", "message": ""}, False, ("Ready", "")),
        Case("fresher than the log", ("Loading", "1 of 2"), NO_TABLE, False, ("Loading", "1 of 2")),
        Case("pods", ("Loading", "ended"), NO_TABLE, True, ("Loading", NO_TABLE["message"])),
        Case("pods, no log", ("Loading", "no image"), {}, True, ("Loading", "no image")),
    ],
    ids=lambda case: case.id,
)
def test_what_is_seen_or_else_what_the_log_says(case: Case) -> None:
    assert standing(case.seen, case.told, in_pods=case.in_pods) == case.shown
