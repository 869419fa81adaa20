from dataclasses import dataclass
from pathlib import Path

import pytest

from trainway.agent.directory import Directory
from trainway.agent.pool.log_copies import LogCopies, pod_of

FILE = "node-0-1.trainer.0.log"


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
