"""Which attempt counts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.slurm.fencing import (
    BEAT_SECONDS,
    LEASE_SECONDS,
    SILENT_TICKS,
    DriverLease,
    GuardedJournal,
    Pulse,
    StaleError,
    TaskLiveness,
    Token,
)


def test_tokens_are_in_the_order_of_attempts() -> None:
    texts = ["12.0", "7.10", "7.9", "7.1", "7.0", "no token"]
    tokens = [Token.parse(text) for text in texts]
    assert sorted(tokens) == tokens[::-1]
    assert str(tokens[1]) == "7.10"


def test_the_token_of_an_allocation() -> None:
    assert str(Token.of({"SLURM_JOB_ID": "7"})) == "7.0"
    assert str(Token.of({"SLURM_JOB_ID": "7", "SLURM_RESTART_COUNT": "3"})) == "7.3"
    assert Token.of({}).job == ""


def test_the_token_of_a_job_of_an_array() -> None:
    environ = {"SLURM_JOB_ID": "7", "SLURM_ARRAY_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": "4"}
    token = Token.of(environ)
    assert (str(token), token.job) == ("7_4.0", "7_4")
    assert token < Token.parse("7_4.1") < Token.parse("8_4.0")
    assert Token.parse("no token") < token


def lease(path: Path, text: str) -> DriverLease:
    return DriverLease(Directory(str(path)), Token.parse(text))


def test_a_newer_attempt_ends_the_older_one(tmp_path: Path) -> None:
    old, new = lease(tmp_path, "7.0"), lease(tmp_path, "7.1")
    old.claim()
    old.beat()
    new.claim()
    for refused in (old.beat, old.check, old.claim):
        with pytest.raises(
            StaleError, match=r"attempt 7\.1 has started: attempt 7\.0 is out of date"
        ):
            refused()
    new.beat()


def test_the_first_attempt_waits_for_nobody(tmp_path: Path) -> None:
    first = lease(tmp_path, "7.0")
    first.claim()
    assert first.wait_seconds() == 0


def test_an_attempt_waits_until_pods_of_the_last_one_have_killed_themselves(tmp_path: Path) -> None:
    old, new = lease(tmp_path, "7.0"), lease(tmp_path, "7.1")
    old.claim()
    old.beat()
    new.claim()
    claimed = (tmp_path / "token").stat().st_mtime
    for age, expected in ((0, LEASE_SECONDS), (5, LEASE_SECONDS - 5), (60, 0)):
        os.utime(tmp_path / "heartbeat", (claimed - age, claimed - age))
        assert new.wait_seconds() == pytest.approx(expected, abs=0.1)


def test_nobody_waits_for_an_attempt_that_left(tmp_path: Path) -> None:
    old, new = lease(tmp_path, "7.0"), lease(tmp_path, "7.1")
    old.claim()
    old.beat()
    old.leave()
    new.claim()
    assert new.wait_seconds() == 0


def test_a_driver_that_slept_looks_before_it_writes(tmp_path: Path) -> None:
    now = [100.0]
    old = lease(tmp_path, "7.0")
    old.claim()
    journal = GuardedJournal(Directory(str(tmp_path)), lambda: now[0], old)
    journal.append("agent", {})
    lease(tmp_path, "7.1").claim()
    now[0] += 2 * BEAT_SECONDS + 1
    with pytest.raises(StaleError):
        journal.append("agent", {})
    assert len((tmp_path / "journal.jsonl").read_bytes().splitlines()) == 1


def test_tasks_that_do_not_answer_for_long_are_missed() -> None:
    liveness = TaskLiveness(limit=2)
    found = []
    for beat in range(4):
        if beat != 2:
            liveness.heard("a")
        found.append(liveness.missed(["a", "b"]))
    assert found == [set(), set(), {"b"}, {"b"}]
    liveness.heard("b")
    assert liveness.missed(["b"]) == set()


def test_silence_is_counted_in_seconds_that_were_lived_through() -> None:
    pulse = Pulse()
    assert not any(pulse.tick() for _ in range(SILENT_TICKS - 1))
    pulse.heard()
    assert not any(pulse.tick() for _ in range(SILENT_TICKS - 1))
    assert pulse.tick()
