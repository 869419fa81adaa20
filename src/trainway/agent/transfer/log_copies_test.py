import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.transfer.log_copies import LogCopies, pod_of

FILE = "node-0-1.trainer.0.log"
OTHER = "node-0-0.trainer.0.log"


@dataclass(frozen=True)
class Case:
    name: str
    file: str
    pod: str


NAMES = [
    Case("a log", FILE, "node-0-1"),
    Case("a role with dashes", "my-role-0-1.main.12.log", "my-role-0-1"),
    Case("another directory", "../node-0-1.main.0.log", ""),
    Case("a hidden file", ".node-0-1.main.0.log", ""),
    Case("no log", "node-0-1.main.0", ""),
    Case("a null byte", "node-0-1\0.main.0.log", ""),
    Case("nothing", "", ""),
]


@pytest.mark.parametrize("case", NAMES, ids=lambda case: case.name)
def test_only_names_of_logs_have_a_pod(case: Case) -> None:
    assert pod_of(case.file) == case.pod


def copies(path: Path, bases: dict[str, int] | None = None) -> LogCopies:
    (path / "logs").mkdir(exist_ok=True)
    return LogCopies(Directory(str(path)), bases or {})


def text(path: Path) -> bytes:
    return (path / "logs" / FILE).read_bytes()


def test_pieces_are_written_once_and_in_order(tmp_path: Path) -> None:
    logs = copies(tmp_path)
    assert logs.take(FILE, 0, b"one\n")
    assert logs.take(FILE, 4, b"two\n")
    assert logs.take(FILE, 0, b"one\ntwo\n")
    assert logs.take(FILE, 4, b"two\nthree\n")
    assert text(tmp_path) == b"one\ntwo\nthree\n"
    assert logs.offsets({"node-0-1"}) == {FILE: 14}
    assert logs.offsets({"node-0-0"}) == {}


def test_a_gap_is_noticed_and_nothing_written(tmp_path: Path) -> None:
    logs = copies(tmp_path)
    assert logs.take(FILE, 0, b"one\n")
    assert not logs.take(FILE, 8, b"three\n")
    assert text(tmp_path) == b"one\n"


def test_the_next_agent_goes_on_at_the_very_byte(tmp_path: Path) -> None:
    copies(tmp_path).take(FILE, 0, b"one\ntw")
    logs = copies(tmp_path)
    assert logs.offsets({"node-0-1"}) == {FILE: 6}
    assert logs.take(FILE, 6, b"o\n")
    assert text(tmp_path) == b"one\ntwo\n"


def test_another_host_begins_from_nothing(tmp_path: Path) -> None:
    first = copies(tmp_path)
    first.take(FILE, 0, b"one\n")
    bases = first.begin_anew()
    assert bases == {FILE: 4}
    assert first.offsets({"node-0-1"}) == {}
    assert first.take(FILE, 0, b"two\n")
    second = copies(tmp_path, bases)
    assert second.offsets({"node-0-1"}) == {FILE: 4}
    assert second.take(FILE, 4, b"three\n")
    assert text(tmp_path) == b"one\ntwo\nthree\n"


def test_a_log_is_never_written_through_a_link(tmp_path: Path) -> None:
    logs = copies(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(b"")
    (tmp_path / "logs" / FILE).symlink_to(elsewhere)
    assert not logs.take(FILE, 0, b"one\n")
    assert elsewhere.read_bytes() == b""


def limited(path: Path, limit: int, told: list[str]) -> LogCopies:
    (path / "logs").mkdir(exist_ok=True)
    (path / "plan.json").write_text(json.dumps({"logs": {"limit": limit}}))
    return LogCopies(Directory(str(path)), {}, told.append)


def test_what_exceeds_the_limit_of_the_job_is_taken_and_dropped(tmp_path: Path) -> None:
    told: list[str] = []
    logs = limited(tmp_path, 20, told)
    assert logs.take(OTHER, 0, b"other\n")
    assert logs.take(FILE, 0, b"one\ntwo\nthree is too long\n")
    assert logs.take(FILE, 26, b"four\n")
    first, second, notice = text(tmp_path).splitlines()
    assert (first, second) == (b"one", b"two")
    assert b" e trainway: the logs of this job have reached their limit of 20 bytes" in notice
    assert len(told) == 1
    assert logs.offsets({"node-0-1"}) == {FILE: 31}


def test_the_next_agent_keeps_to_the_limit(tmp_path: Path) -> None:
    limited(tmp_path, 20, []).take(FILE, 0, b"one\ntwo\nthree is too long\n")
    kept = text(tmp_path)
    logs = limited(tmp_path, 20, [])
    # Its host begins where this one counts, or where it had come to itself.
    offset = logs.offsets({"node-0-1"})[FILE]
    for start in (offset, 26, 1_000_000):
        assert logs.take(FILE, start, b"more\n")
    assert text(tmp_path) == kept


def test_the_notice_is_a_line_of_its_own(tmp_path: Path) -> None:
    logs = limited(tmp_path, 5, [])
    assert logs.take(FILE, 0, b"torn")
    assert logs.take(FILE, 4, b" line\n")
    assert text(tmp_path).splitlines()[0] == b"torn"
