import errno
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import md5
from pathlib import Path

import pytest

from trainway.data.store import PART_SIZE, Entry, Piece
from trainway.data.uri import parse
from trainway.engine.checkpoint.manifest import NAME
from trainway.engine.checkpoint.mirror import Mirror, files_of
from trainway.errors import NotFoundError, UnavailableError, UnreadableError

RUN = parse("s3://bucket/run")


class Bucket:
    """A bucket in memory, which can fail after so many changes."""

    part_size = PART_SIZE

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.left: float = float("inf")

    def stat(self, key: str) -> Entry | None:
        found = self.objects.get(key)
        if found is None:
            return None
        return Entry(key, len(found), md5(found, usedforsecurity=False).hexdigest(), 1.0)

    def list(self, folder: str) -> Iterator[Entry]:
        raise NotImplementedError("a mirror reads a manifest, and lists nothing")

    def read(self, entry: Entry, start: int, end: int) -> Iterable[Piece]:
        yield self.objects[entry.key][start:end]

    def write(self, key: str, size: int, chunks: Iterable[bytes]) -> None:
        data = b"".join(chunks)
        assert len(data) == size
        self._change()
        self.objects[key] = data

    def delete(self, keys: Sequence[str]) -> None:
        for key in keys:
            self._change()
            self.objects.pop(key, None)

    def _change(self) -> None:
        if self.left <= 0:
            raise UnavailableError("the bucket does not answer")
        self.left -= 1


def manifest(bucket: Bucket) -> list[str]:
    text = bucket.objects.get(f"run/{NAME}")
    return [] if text is None else list(json.loads(text)["files"])


@pytest.fixture
def bucket() -> Bucket:
    return Bucket()


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "jobs" / "a" / "output"


def mirror(output: Path, bucket: Bucket) -> Mirror:
    """As each server makes it anew."""
    return Mirror(output, RUN, "a", _store=bucket)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_what_a_job_writes_is_in_the_bucket_after_two_looks(output: Path, bucket: Bucket) -> None:
    mine = mirror(output, bucket)
    assert mine.restore() == 0
    write(output / "epochs/1/model", "one")
    (output / "link").symlink_to("/etc/passwd")
    os.mkfifo(output / "pipe")
    for name in ("two\nlines", "Icon\r", os.fsdecode(b"a\xff")):
        write(output / name, "a bucket takes no such name")
    write(output / ".trainway/result", "no")
    assert not mine.look()
    assert mine.look()
    assert not mine.look()
    assert manifest(bucket) == ["epochs/1/model"]
    assert set(bucket.objects) == {"run/epochs/1/model", f"run/{NAME}"}


def test_another_job_begins_from_what_is_listed(output: Path, bucket: Bucket) -> None:
    bucket.objects = {
        "run/a": b"1",
        "run/c/2": b"2",
        "run/half": b"x",
        f"run/{NAME}": b'{"version": 1, "files": ["a", "c/2"]}',
    }
    mine = mirror(output, bucket)
    assert mine.restore() == 2
    assert ((output / "a").read_text(), sorted(files_of(output))) == ("1", ["a", "c/2"])
    write(output / "a", "newer")
    assert mirror(output, bucket).restore() == 0, "the next server leaves it as it is"
    assert (output / "a").read_text() == "newer"
    before = dict(bucket.objects)
    bucket.left = 2  # the file and the manifest; the other file is there already
    mine.look(is_over=True)
    assert bucket.objects["run/a"] == b"newer"
    assert bucket.objects["run/c/2"] == before["run/c/2"]


def test_a_job_that_comes_with_output_keeps_it(output: Path, bucket: Bucket) -> None:
    bucket.objects = {"run/a": b"1", f"run/{NAME}": b'{"version": 1, "files": ["a"]}'}
    write(output / "a", "newer")
    assert mirror(output, bucket).restore() == 0
    assert (output / "a").read_text() == "newer"


def test_a_restore_that_was_killed_goes_on(
    output: Path, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = b'{"version": 1, "files": ["a", "b"]}'
    bucket.objects = {"run/a": b"1", "run/b": b"2", f"run/{NAME}": text}

    def killed(_wanted: object) -> None:
        write(output / "a", "1")
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("trainway.engine.checkpoint.mirror.fetch", killed)
        with pytest.raises(KeyboardInterrupt):
            mirror(output, bucket).restore()
    assert not mirror(output, bucket).look(is_over=True), "it is not the job's own yet"
    assert mirror(output, bucket).restore() == 2
    assert sorted(files_of(output)) == ["a", "b"]


def test_a_listed_file_that_is_missing_is_named(output: Path, bucket: Bucket) -> None:
    bucket.objects = {f"run/{NAME}": b'{"version": 1, "files": ["a"]}'}
    with pytest.raises(NotFoundError, match="s3://bucket/run/a is missing"):
        mirror(output, bucket).restore()


def test_what_is_removed_goes_after_the_manifest(output: Path, bucket: Bucket) -> None:
    mine = mirror(output, bucket)
    mine.restore()
    for name in ("1", "2"):
        write(output / name, name)
    mine.look(is_over=True)
    (output / "1").unlink()
    bucket.left = 1
    with pytest.raises(UnavailableError):
        mine.look(is_over=True)
    assert manifest(bucket) == ["2"]
    assert "run/1" in bucket.objects
    bucket.left = 10
    mirror(output, bucket).look(is_over=True)
    assert "run/1" not in bucket.objects


def test_an_empty_directory_removes_nothing(output: Path, bucket: Bucket) -> None:
    mine = mirror(output, bucket)
    mine.restore()
    write(output / "1", "1")
    mine.look(is_over=True)
    (output / "1").unlink()
    mine.look(is_over=True)
    assert manifest(bucket) == ["1"]


@pytest.mark.parametrize("call", ["iterdir", "lstat"])
def test_what_cannot_be_read_is_not_gone(
    output: Path, bucket: Bucket, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    mine = mirror(output, bucket)
    mine.restore()
    for name in ("1/model", "2/model", "last"):
        write(output / name, name)
    mine.look(is_over=True)
    before = dict(bucket.objects)
    (output / "last").unlink()
    fine, broken = getattr(Path, call), output / "1"

    def fails(path: Path) -> object:
        if path == broken:
            raise OSError(errno.EIO, "Input/output error", str(path))
        return fine(path)

    with monkeypatch.context() as patched:
        patched.setattr(Path, call, fails)
        with pytest.raises(OSError, match="Input/output error"):
            mine.look(is_over=True)
    assert bucket.objects == before
    assert mine.look(is_over=True)
    assert manifest(bucket) == ["1/model", "2/model"]


@pytest.mark.parametrize("call", ["iterdir", "lstat", "open"])
def test_what_can_be_read_is_mirrored_beside_what_cannot(
    output: Path, bucket: Bucket, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    mine = mirror(output, bucket)
    mine.restore()
    for name in ("old/model", "lost/x/model"):
        write(output / name, name)
    mine.look(is_over=True)
    (output / "old/model").unlink()
    for name in ("new/model", "lost/optimizer", "last"):
        write(output / name, name)
    write(output / "lost/x/model", "another one")
    fine, broken = getattr(Path, call), output / "lost/x" / ("" if call == "iterdir" else "model")

    def fails(path: Path, *words: object, **named: object) -> object:
        if path == broken:
            raise OSError(errno.EACCES, "Permission denied", str(path))
        return fine(path, *words, **named)

    with monkeypatch.context() as patched:
        patched.setattr(Path, call, fails)
        for _ in range(2):
            with pytest.raises((OSError, UnreadableError), match="Permission denied"):
                mine.look(is_over=True)
    assert sorted(manifest(bucket)) == ["last", "lost/x/model", "new/model", "old/model"]
    assert bucket.objects["run/lost/x/model"] == b"lost/x/model"
    assert "run/old/model" in bucket.objects, "nothing is removed meanwhile"
    assert mirror(output, bucket).is_pending()

    mine.look(is_over=True)
    assert sorted(manifest(bucket)) == ["last", "lost/optimizer", "lost/x/model", "new/model"]
    assert bucket.objects["run/lost/x/model"] == b"another one"
    assert "run/old/model" not in bucket.objects


def test_what_is_set_aside_during_a_look_is_not_gone(
    output: Path, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = mirror(output, bucket)
    mine.restore()
    for name in ("a", "1/model"):
        write(output / name, name)
    assert mine.look(is_over=True)
    before, iterdir = dict(bucket.objects), Path.iterdir

    def moved(self: Path) -> Iterator[Path]:
        if self == output / "1":
            output.rename(output.with_name("aside"))
        return iterdir(self)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "iterdir", moved)
        mine.look()
    assert bucket.objects == before


def test_a_note_that_cannot_be_read_is_not_none(
    output: Path, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror(output, bucket).restore()

    def fails(_root: Path, path: Path) -> None:
        raise OSError(errno.EIO, "Input/output error", str(path))

    monkeypatch.setattr("trainway.backends.job_file.reader", fails)
    for work in (mirror(output, bucket).restore, mirror(output, bucket).look):
        with pytest.raises(OSError, match="Input/output error"):
            work()


def test_whatever_is_listed_is_there_wherever_it_fails(output: Path, bucket: Bucket) -> None:
    mine = mirror(output, bucket)
    mine.restore()
    for step in range(12):
        for name in ("model", "optimizer"):
            write(output / f"{step}" / name, f"{step} {name}")
        if step > 2:
            (output / f"{step - 3}" / "model").unlink()
            (output / f"{step - 3}" / "optimizer").unlink()
        bucket.left = step % 5
        with suppress(UnavailableError):
            mirror(output, bucket).look(is_over=True)
        for name in manifest(bucket):
            assert f"run/{name}" in bucket.objects
    bucket.left = 100
    last = mirror(output, bucket)
    last.look(is_over=True)
    wanted = [f"{step}/{name}" for step in range(9, 12) for name in ("model", "optimizer")]
    assert sorted(manifest(bucket)) == sorted(wanted)
    assert not last.is_pending()


def test_a_server_that_ends_waits_for_no_transfer(output: Path, bucket: Bucket) -> None:
    bucket.objects = {"run/a": b"1", f"run/{NAME}": b'{"version": 1, "files": ["a"]}'}
    stopped = mirror(output, bucket)
    stopped.stop()
    with pytest.raises(UnavailableError, match="the server stops"):
        stopped.restore()
    mine = mirror(output, bucket)
    assert mine.restore() == 1
    write(output / "b", "2")
    mine.stop()
    with pytest.raises(UnavailableError, match="the server stops"):
        mine.look(is_over=True)
    assert "run/b" not in bucket.objects
    assert mirror(output, bucket).look(is_over=True)
