import threading
from collections.abc import Mapping
from hashlib import md5
from pathlib import Path

import pytest

from trainway.data.local_files import LocalFiles
from trainway.data.multipart import Part
from trainway.data.part_upload import PartUpload
from trainway.data.store import ChangedError, Entry
from trainway.data.upload_memory import UploadMemory, remembered
from trainway.errors import UnavailableError

SIZE = 10
CONTENT = bytes(range(47))


class PretendedParts:
    """An object of a store in memory, which may stop to answer after so many parts."""

    name = "https://store/bucket/key"

    def __init__(self) -> None:
        self.uploads: dict[str, dict[int, bytes]] = {}
        self.object = b""
        self.sent: list[int] = []
        self.left = 100
        self._lock = threading.Lock()

    def begin(self) -> str:
        upload = f"upload-{len(self.uploads)}"
        self.uploads[upload] = {}
        return upload

    def there(self, upload: str) -> dict[int, Part] | None:
        if upload not in self.uploads:
            return None
        return {
            number: Part(len(body), f'"{md5(body, usedforsecurity=False).hexdigest()}"')
            for number, body in self.uploads[upload].items()
        }

    def put(self, upload: str, number: int, body: bytes) -> str:
        with self._lock:
            if self.left == 0:
                raise UnavailableError("the store does not answer")
            self.left -= 1
            self.sent.append(number)
            self.uploads[upload][number] = body
            return f"etag-{number}"

    def complete(self, upload: str, etags: Mapping[int, str]) -> None:
        parts = self.uploads.pop(upload)
        assert sorted(etags) == sorted(parts)
        self.object = b"".join(parts[number] for number in sorted(parts))

    def abort(self, upload: str) -> None:
        self.uploads.pop(upload, None)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "trainway" / "uploads"


@pytest.fixture
def parts() -> PretendedParts:
    return PretendedParts()


def entry(path: Path) -> Entry:
    found = LocalFiles().stat(str(path)[1:])
    assert found is not None
    return found


def send(path: Path, parts: PretendedParts, seen: Entry | None = None) -> list[tuple[int, int]]:
    told: list[tuple[int, int]] = []

    def tell(size: int, sent: int) -> None:
        told.append((size, sent))

    sending = PartUpload(LocalFiles(), seen or entry(path), parts, SIZE, tell, lambda: False)
    with remembered(parts.name) as memory:
        assert isinstance(memory, UploadMemory)
        sending.run(memory)
    return told


def interrupted(path: Path, parts: PretendedParts, after: int) -> None:
    parts.left = after
    with pytest.raises(UnavailableError):
        send(path, parts)
    parts.left = 100
    assert len(parts.sent) == after
    parts.sent.clear()


def test_only_parts_that_are_missing_are_sent(
    tmp_path: Path, parts: PretendedParts, cache: Path
) -> None:
    path = tmp_path / "file"
    path.write_bytes(CONTENT)
    interrupted(path, parts, 3)
    (upload,) = parts.uploads.values()
    there = set(upload)
    assert len(list(cache.iterdir())) == 1

    told = send(path, parts)

    assert parts.object == CONTENT
    assert there.isdisjoint(parts.sent)
    assert sum(size for size, _ in told) == len(CONTENT)
    assert sum(sent for _, sent in told) <= len(CONTENT) - 2 * SIZE
    assert not parts.uploads
    assert not list(cache.iterdir())


def test_a_part_that_differs_is_sent_again(tmp_path: Path, parts: PretendedParts) -> None:
    path = tmp_path / "file"
    path.write_bytes(CONTENT)
    interrupted(path, parts, 3)
    (upload,) = parts.uploads.values()
    damaged = min(upload)
    upload[damaged] = bytes(len(upload[damaged]))

    send(path, parts)

    assert damaged in parts.sent
    assert parts.object == CONTENT


def test_what_was_sent_of_another_version_is_removed(tmp_path: Path, parts: PretendedParts) -> None:
    path = tmp_path / "file"
    path.write_bytes(CONTENT)
    interrupted(path, parts, 3)
    path.write_bytes(CONTENT + b"more")

    send(path, parts)

    assert len(parts.sent) == 6
    assert parts.object == CONTENT + b"more"
    assert not parts.uploads


def test_an_upload_that_the_store_has_forgotten_begins_anew(
    tmp_path: Path, parts: PretendedParts
) -> None:
    path = tmp_path / "file"
    path.write_bytes(CONTENT)
    interrupted(path, parts, 3)
    parts.uploads.clear()

    send(path, parts)

    assert sorted(parts.sent) == [1, 2, 3, 4, 5]
    assert parts.object == CONTENT


def test_a_file_that_changes_meanwhile_leaves_nothing(
    tmp_path: Path, parts: PretendedParts, cache: Path
) -> None:
    path = tmp_path / "file"
    path.write_bytes(CONTENT)
    seen = entry(path)
    path.write_bytes(CONTENT[::-1] + b"more")

    with pytest.raises(ChangedError):
        send(path, parts, seen)

    assert not parts.uploads
    assert not list(cache.iterdir())


def test_what_is_being_sent_by_another_is_told(parts: PretendedParts, cache: Path) -> None:
    with remembered(parts.name) as first, remembered(parts.name) as second:
        assert isinstance(first, UploadMemory)
        assert second is None
        first.write("subject", "upload")
    with remembered(parts.name) as third:
        assert third is not None
        assert third.read() == ("subject", "upload")
    (path,) = cache.iterdir()
    path.write_bytes(b'{"torn')
    with remembered(parts.name) as fourth:
        assert fourth is not None
        assert fourth.read() == ("", "")
    assert not list(cache.iterdir())


def test_where_nothing_can_be_written_nothing_is_remembered(
    parts: PretendedParts, cache: Path
) -> None:
    cache.parent.mkdir(parents=True)
    cache.write_text("a file, and no folder")
    with remembered(parts.name) as memory:
        assert memory is None
