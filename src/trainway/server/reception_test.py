import hashlib
from dataclasses import dataclass
from pathlib import Path

import pytest

from trainway.backends.file_store import FileStore
from trainway.errors import UsageError
from trainway.server import reception
from trainway.server.reception import Reception

CONTENTS = (b"one", b"", b"line\nbreaks\n\n", b"x" * 1000)


def body(*contents: bytes) -> bytes:
    return b"".join(
        f"{hashlib.sha256(data).hexdigest()} {len(data)}\n".encode() + data for data in contents
    )


def stored(home: Path) -> set[bytes]:
    return {path.read_bytes() for path in (home / "blobs").iterdir()}


@pytest.mark.parametrize("size", [1, 7, 64, 10_000])
def test_files_come_in_pieces_of_any_size(tmp_path: Path, size: int) -> None:
    received, sent = Reception(FileStore(tmp_path)), body(*CONTENTS)
    for start in range(0, len(sent), size):
        received.feed(sent[start : start + size])
    received.end()
    assert received.count == len(CONTENTS)
    assert stored(tmp_path) == set(CONTENTS)


def test_what_came_as_a_whole_stays(tmp_path: Path) -> None:
    received = Reception(FileStore(tmp_path))
    received.feed(body(b"whole", b"not so")[:-1])
    with pytest.raises(UsageError, match="in the middle of a file"):
        received.end()
    received.close()
    assert stored(tmp_path) == {b"whole"}


@dataclass(frozen=True)
class Case:
    name: str
    body: bytes
    message: str


@pytest.mark.parametrize(
    "case",
    [
        Case("no line", b"x" * 200, "not a sequence of files"),
        Case("no size", b"0" * 64 + b"\n", "not a sequence of files"),
        Case("a negative size", b"0" * 64 + b" -1\n", "not a sequence of files"),
        Case("no digest", b"../../x 1\nx", "not a digest"),
        Case("too large", b"0" * 64 + b" 1001\n", "1000 is the most"),
    ],
    ids=lambda case: case.name,
)
def test_what_is_refused(tmp_path: Path, case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reception, "LARGEST", 1000)
    with pytest.raises(UsageError, match=case.message):
        Reception(FileStore(tmp_path)).feed(case.body)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
