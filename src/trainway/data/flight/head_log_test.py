"""What is known of a cache by the log of its head alone."""

from dataclasses import dataclass
from typing import Any

import pytest

from trainway.data.flight.contract import HEAD, LISTENS, NOT_READY, READY, WORKER
from trainway.data.flight.head_log import told_in_log

LISTENING = f"2026-11-18 12:00:00,000 INFO {LISTENS % (HEAD, '10.0.0.7', 15042)}"
IS_READY = f"2026-11-18 12:00:01,000 INFO {READY % (4, 40, 32_000)}"
IS_NOT = f"2026-11-18 12:00:02,000 INFO {NOT_READY % '3 of 4 files are loaded'}"
LOADING = {"ready": False, "reason": "its workers are loading the table", "host": "10.0.0.7"}
FIGURES = {"files": 4, "bytes": 40, "rows": 32_000}
FULL = {"ready": True, "reason": "", "host": "10.0.0.7", **FIGURES}


@dataclass(frozen=True)
class Case:
    id: str
    lines: list[str]
    told: dict[str, Any] | None


@pytest.mark.parametrize(
    "case",
    [
        Case("silent", [], None),
        Case("a worker", [f"INFO {LISTENS % (WORKER, 'h', 1)}", "INFO ready"], None),
        Case("begins", [LISTENING], LOADING),
        Case("ready", [LISTENING, "chatter", IS_READY], FULL),
        Case(
            "a worker is lost",
            [LISTENING, IS_READY, IS_NOT],
            {**FULL, "ready": False, "reason": "3 of 4 files are loaded"},
        ),
        Case("and comes back", [LISTENING, IS_READY, IS_NOT, IS_READY], FULL),
        Case("no table", [LISTENING, "x ERROR no file"], {**LOADING, "reason": "no file"}),
        Case("a new head", [LISTENING, IS_READY, LISTENING], LOADING),
        Case("only the end of a long log", [IS_READY], {"ready": True, "reason": "", **FIGURES}),
        Case("no numbers", ["ready: 9" + "9" * 99 + " files, 1 bytes, 1 rows"], None),
    ],
    ids=lambda case: case.id,
)
def test_what_the_log_of_a_head_tells(case: Case) -> None:
    assert told_in_log(case.lines) == case.told
