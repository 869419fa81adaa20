from datetime import UTC, datetime
from pathlib import Path

import pytest

from trainway.agent.base.journal_reader import NAME
from trainway.backends.kubernetes.record_book import RecordBook

NOW = datetime(2026, 11, 15, 5, tzinfo=UTC)


@pytest.fixture
def book(tmp_path: Path) -> RecordBook:
    return RecordBook(tmp_path / "job", lambda: NOW)


def test_a_new_book_is_empty(book: RecordBook) -> None:
    assert (book.is_submitted(), book.has_left(), book.read()) == (False, False, [])


def test_records_are_numbered_and_kept(book: RecordBook) -> None:
    first = book.append([{"type": "a"}, {"type": "b", "time": "then"}], -1)
    assert first == [
        {"seq": 0, "time": "2026-11-15T05:00:00.000000Z", "type": "a"},
        {"seq": 1, "time": "then", "type": "b"},
    ]
    second = book.append([{"type": "c"}], 7)
    assert second[0]["seq"] == 8
    assert book.read() == [*first, *second]
    assert book.directory.stat().st_mode & 0o777 == 0o700
    assert (book.directory / NAME).stat().st_mode & 0o777 == 0o600


def test_a_line_that_was_cut_off_is_dropped(book: RecordBook) -> None:
    whole = book.append([{"type": "a"}], -1)
    path = book.directory / NAME
    with path.open("ab") as file:
        file.write(b'{"seq": 1, "ty')
    assert book.read() == whole
    assert book.read() + book.append([{"type": "b"}], 0) == book.read()


def test_what_is_no_record_is_left_out(book: RecordBook) -> None:
    book.append([{"type": "a"}], -1)
    with (book.directory / NAME).open("ab") as file:
        file.write(b"nonsense\n[]\n{}\n")
    assert [record["type"] for record in book.read()] == ["a"]


def test_the_last_word_tells_whether_the_job_is_here(book: RecordBook) -> None:
    book.append([{"type": "agent", "event": "started"}, {"type": "status", "jobset": {"a": 1}}])
    assert (book.is_submitted(), book.has_left(), book.status()) == (False, False, {"a": 1})
    book.append([{"type": "agent", "event": "submitted"}, {"type": "pod"}])
    assert (book.is_submitted(), book.has_left(), book.has_ended()) == (True, False, False)
    (left,) = book.append([{"type": "agent", "event": "left"}])
    assert (left["seq"], book.is_submitted(), book.has_left()) == (4, False, True)
    book.append([{"type": "end"}])
    assert book.has_ended()
