from pathlib import Path

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.base.journal import Journal
from trainway.agent.transfer.journal_tail import JournalTail


@pytest.fixture
def directory(tmp_path: Path) -> Directory:
    return Directory(str(tmp_path))


@pytest.fixture
def journal(directory: Directory) -> Journal:
    return Journal(directory, lambda: 0.0)


def test_a_journal_that_is_not_there_yet(directory: Directory) -> None:
    tail = JournalTail(directory)
    assert not tail.look()
    assert (tail.last, tail.offset(0), tail.read(0, 100)) == (-1, 0, b"")


def test_what_is_appended_is_seen(directory: Directory, journal: Journal) -> None:
    tail = JournalTail(directory)
    for number in range(3):
        journal.append("event", {"message": f"m{number}"})
    assert tail.last == -1
    assert tail.look()
    assert (tail.last, tail.ended) == (2, False)
    assert not tail.look()
    assert tail.read(0, 10**6) == journal.read(0, 10**6)
    assert tail.offset(2) == journal.offset(2)
    assert tail.offset(9) == journal.end


def test_half_a_line_counts_when_it_is_whole(directory: Directory, tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"
    file.write_bytes(b'{"seq":0,"type":"event"}\n{"seq":1,')
    tail = JournalTail(directory)
    assert tail.read(0, 100) == b'{"seq":0,"type":"event"}\n'
    with file.open("r+b") as writer:  # as a driver that goes on after one that was killed
        writer.truncate(25)
        writer.seek(0, 2)
        writer.write(b'{"seq":1,"type":"end"}\n')
    assert tail.look()
    assert (tail.last, tail.ended) == (1, True)
    assert tail.read(25, 100) == b'{"seq":1,"type":"end"}\n'
