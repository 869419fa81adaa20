import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.base.journal import Journal
from trainway.agent.base.journal_reader import NAME, records_in


def open_journal(path: Path) -> Journal:
    return Journal(Directory(str(path)), lambda: 0.25)


def test_records_are_numbered_and_dated(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    assert journal.append("agent", {"event": "started"}) == 0
    assert journal.append("event", {"message": "grüße"}, durable=True) == 1
    lines = (tmp_path / NAME).read_text().splitlines()
    assert json.loads(lines[1]) == {
        "seq": 1,
        "time": "1970-01-01T00:00:00.250000Z",
        "type": "event",
        "message": "grüße",
    }


def test_a_new_agent_goes_on_where_the_old_one_stopped(tmp_path: Path) -> None:
    first = open_journal(tmp_path)
    for _ in range(3):
        first.append("event", {})
    with (tmp_path / NAME).open("ab") as file:
        file.write(b'{"seq": 3, "ty')
    second = open_journal(tmp_path)
    assert [record["seq"] for record in second.records] == [0, 1, 2]
    assert second.append("event", {}) == 3
    records, _ = records_in((tmp_path / NAME).read_bytes())
    assert [record["seq"] for record in records] == [0, 1, 2, 3]
    assert json.loads(second.read(second.offset(3), 1000))["seq"] == 3


@pytest.mark.parametrize(
    ("data", "seqs", "length"),
    [
        (b"", [], 0),
        (b'{"seq":0}\n', [0], 10),
        (b'{"seq":0}\n{"seq"', [0], 10),
        (b'{"seq":0}\nrubbish\n{"seq":2}\n[]\n', [0, 2], 31),
        (b"\xff\xfe\n", [], 3),
    ],
)
def test_replay(data: bytes, seqs: list[int], length: int) -> None:
    records, whole = records_in(data)
    assert ([record["seq"] for record in records], whole) == (seqs, length)


def test_readers_find_a_record_by_its_number(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    for _ in range(5):
        journal.append("event", {"text": "x" * 50})
    assert json.loads(journal.read(journal.offset(3), 1 << 16).splitlines()[0])["seq"] == 3
    assert journal.offset(-1) == 0
    assert journal.offset(99) == journal.end
    assert journal.read(journal.end, 10) == b""


def test_listeners_hear_of_each_record(tmp_path: Path) -> None:
    journal, heard = open_journal(tmp_path), list[int]()
    listener: Any = lambda: heard.append(journal.end)  # noqa: E731 - it must be the same object
    journal.subscribe(listener)
    journal.append("event", {})
    journal.unsubscribe(listener)
    journal.append("event", {})
    assert len(heard) == 1


def test_a_full_disk_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = open_journal(tmp_path)
    journal.append("event", {})
    write, room = os.write, [20]

    def limited(fd: int, data: bytes) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, "full")
        count = write(fd, data[: room[0]])
        room[0] -= count
        return count

    monkeypatch.setattr(os, "write", limited)
    journal.append("event", {"text": "waits"})
    journal.append("end", {})
    assert not journal.flush()
    kept = journal.read(journal.offset(1), 1 << 16)
    kept += journal.read(journal.offset(1) + len(kept), 1 << 16)
    assert [json.loads(line)["seq"] for line in kept.splitlines()] == [1, 2]
    monkeypatch.undo()
    assert journal.flush()
    assert [r["seq"] for r in records_in((tmp_path / NAME).read_bytes())[0]] == [0, 1, 2]
