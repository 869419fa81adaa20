"""What nodes send, written down here."""

from __future__ import annotations

import errno
import os
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.transfer.mirror import JournalCopy, Mirror
from trainway.agent.transfer.output_copies import OutputCopies
from trainway.json_types import Json

LOG = "node-0-0.main.0.log"


def mirror_in(path: Path) -> Mirror:
    return Mirror(Directory(str(path)), lambda _record: None)


def log(offset: int, text: str) -> Json:
    data = b64encode(text.encode()).decode()
    return {"event": "log", "file": LOG, "offset": offset, "data": data}


def output(path: str, **more: Any) -> Json:
    return {"event": "output", "path": path, "data": "", "last": True, **more}


def test_a_log_that_lacks_a_piece_has_to_come_again(tmp_path: Path) -> None:
    mirror = mirror_in(tmp_path)
    assert mirror.take("a", log(0, "one\n"))
    assert not mirror.take("a", log(8, "three\n"))
    assert mirror.position()["logs"] == {LOG: 4}
    assert mirror.take("a", log(4, "two\nthree\n"))
    assert (tmp_path / "logs" / LOG).read_text() == "one\ntwo\nthree\n"


@dataclass(frozen=True)
class Case:
    name: str
    number: int
    is_done_with: bool


NO_PLACE = [
    Case("no room now", errno.ENOSPC, is_done_with=False),
    Case("no room for this user", errno.EDQUOT, is_done_with=False),
    Case("never", errno.ENAMETOOLONG, is_done_with=True),
]


@pytest.mark.parametrize("case", NO_PLACE, ids=lambda case: case.name)
def test_output_comes_again_where_there_may_be_room_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    def take(*_: object) -> None:
        raise OSError(case.number, os.strerror(case.number))

    monkeypatch.setattr(OutputCopies, "take", take)
    assert mirror_in(tmp_path).take("a", output("output/model")) is case.is_done_with


def test_output_that_leads_elsewhere_is_refused_once_and_for_all(tmp_path: Path) -> None:
    mirror = mirror_in(tmp_path)
    assert mirror.take("a", output("output/../plan.json"))
    assert mirror.take("a", output("output/x", link="/etc/passwd"))
    assert list((tmp_path / "output").iterdir()) == []


def test_a_journal_is_complete_when_its_end_is_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = JournalCopy(Directory(str(tmp_path)), lambda: 0.0)
    journal.take({"seq": 0, "type": "agent", "time": "then"})
    seen = [journal.is_complete]

    def refuse(_fd: int, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, "no room")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", refuse)
        journal.take({"seq": 1, "type": "end", "time": "then"})
        seen.append(journal.is_complete)
    assert journal.ended
    assert [*seen, journal.is_complete] == [False, False, True]
    assert len((tmp_path / "journal.jsonl").read_bytes().splitlines()) == 2
