import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.pool import state as state_module
from trainway.agent.pool.state import NAME, State

if TYPE_CHECKING:
    from trainway.agent.pool.state_records import JobState


def lines(path: Path) -> list[str]:
    return (path / NAME).read_text().splitlines()


def job(number: int) -> "JobState":
    return {"type": "job", "id": f"j{number}", "directory": f"/jobs/j{number}", "order": number}


def test_the_next_one_knows_what_there_was(tmp_path: Path) -> None:
    state = State(Directory(str(tmp_path)))
    state.append({"type": "hosts", "hosts": [{"name": "a"}]})
    state.append(job(1))
    state.append(job(2))
    state.append({"type": "over", "id": "j1"}, durable=False)
    state.append({"type": "cluster", "cluster": {"name": "c", "order": 7}})
    state.append({"type": "cluster", "cluster": {"name": "d", "order": 8}})
    state.append({"type": "cluster", "gone": True, "cluster": {"name": "d"}})
    again = State(Directory(str(tmp_path)))
    assert again.owner == state.owner
    assert again.hosts == [{"name": "a"}]
    assert list(again.jobs) == ["j2"]
    assert list(again.clusters) == ["c"]
    assert again.order == 8
    assert len(lines(tmp_path)) == 4


def test_the_number_of_a_job_that_is_over_is_not_given_again(tmp_path: Path) -> None:
    state = State(Directory(str(tmp_path)))
    state.append(job(5))
    state.append({"type": "over", "id": "j5"})
    assert State(Directory(str(tmp_path))).order == 5
    assert State(Directory(str(tmp_path))).order == 5


def test_half_a_line_is_dropped(tmp_path: Path) -> None:
    state = State(Directory(str(tmp_path)))
    state.append(job(1))
    with (tmp_path / NAME).open("a") as file:
        file.write('{"type": "job", "id": "j2"')
    again = State(Directory(str(tmp_path)))
    assert list(again.jobs) == ["j1"]
    again.append(job(3))
    assert [json.loads(line).get("id") for line in lines(tmp_path)][-2:] == ["j1", "j3"]


def test_it_does_not_grow_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_module, "COMPACT_BYTES", 2000)
    state = State(Directory(str(tmp_path)))
    for number in range(200):
        state.append(job(number))
        state.append({"type": "over", "id": f"j{number}"})
    assert (tmp_path / NAME).stat().st_size < 2000
    assert State(Directory(str(tmp_path))).order == 199


def test_removed(tmp_path: Path) -> None:
    state = State(Directory(str(tmp_path)))
    assert not state.is_removed
    (tmp_path / NAME).unlink()
    assert state.is_removed


def test_what_did_not_fit_on_the_disk_is_written_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = State(Directory(str(tmp_path)))
    with monkeypatch.context() as full:
        full.setattr(os, "write", lambda _fd, data: len(data) // 2)
        assert not state.append(job(1))
    assert len(lines(tmp_path)) == 2
    assert state.append(job(2))
    assert list(State(Directory(str(tmp_path))).jobs) == ["j1", "j2"]
