import base64
import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.transfer.blobs import (
    UNUSED_SECONDS,
    BlobError,
    Blobs,
    references,
    resolved,
    stored_files,
)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def send(blobs: Blobs, data: bytes, sender: str = "a") -> str:
    name = digest(data)
    blobs.receive(name, sender, {"data": base64.b64encode(data).decode(), "last": True})
    return name


def test_a_blob_in_pieces_is_there_with_the_last(tmp_path: Path) -> None:
    blobs = Blobs(Directory(str(tmp_path)))
    name = digest(b"onetwo")
    blobs.receive(name, "a", {"data": base64.b64encode(b"one").decode(), "offset": 0})
    assert blobs.missing([name]) == [name]
    last = {"data": base64.b64encode(b"two").decode(), "offset": 3, "last": True}
    blobs.receive(name, "a", last)
    assert blobs.missing([name]) == []


def test_two_senders_of_one_blob_do_not_meet(tmp_path: Path) -> None:
    blobs = Blobs(Directory(str(tmp_path)))
    name = digest(b"onetwo")
    one, two = base64.b64encode(b"one").decode(), base64.b64encode(b"two").decode()
    blobs.receive(name, "a", {"data": one, "offset": 0})
    blobs.receive(name, "b", {"data": one, "offset": 0})
    blobs.receive(name, "b", {"data": two, "offset": 3, "last": True})
    blobs.receive(name, "a", {"data": two, "offset": 3, "last": True})
    blobs.forget("a")
    assert os.listdir(tmp_path / "blobs") == [name]


def test_another_content_is_refused(tmp_path: Path) -> None:
    blobs = Blobs(Directory(str(tmp_path)))
    name = digest(b"right")
    with pytest.raises(BlobError, match="different content"):
        blobs.receive(name, "a", {"data": base64.b64encode(b"wrong").decode(), "last": True})
    assert blobs.missing([name]) == [name]


@pytest.mark.parametrize("name", ["", "../x", "A" * 64, "0" * 63])
def test_a_name_that_is_no_digest_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BlobError, match="not a digest"):
        Blobs(Directory(str(tmp_path))).missing([name])


def test_what_no_job_uses_goes_when_there_is_too_much(tmp_path: Path) -> None:
    home, job = tmp_path / "home", tmp_path / "job"
    home.mkdir()
    job.mkdir()
    blobs = Blobs(Directory(str(home)), limit=250)
    used, old = send(blobs, b"u" * 100), send(blobs, b"o" * 100)
    for moment, name in enumerate((used, old)):
        os.utime(home / "blobs" / name, (moment, moment))
    blobs.keep([used], Directory(str(job)))
    new = send(blobs, b"n" * 100)
    assert blobs.missing([used, old, new]) == [old]


def test_references_become_values(tmp_path: Path) -> None:
    home, job = tmp_path / "home", tmp_path / "job"
    home.mkdir()
    job.mkdir()
    blobs, directory = Blobs(Directory(str(home))), Directory(str(job))
    name = send(blobs, "groß".encode())
    objects: list[dict[str, Any]] = [
        {"kind": "ConfigMap", "data": {"a": {"$blob": name}, "b": "text"}},
        {"kind": "Secret", "stringData": {"c": {"$blob": name}}},
        {"kind": "Secret"},
    ]
    assert references(objects) == [name, name]
    blobs.keep(references(objects), directory)
    assert resolved(objects, directory) == [
        {"kind": "ConfigMap", "data": {"a": "groß", "b": "text"}},
        {"kind": "Secret", "stringData": {"c": "groß"}},
        {"kind": "Secret"},
    ]
    with pytest.raises(BlobError, match="not here"):
        blobs.keep(["0" * 64], directory)


def test_a_piece_without_its_beginning_is_refused(tmp_path: Path) -> None:
    blobs = Blobs(Directory(str(tmp_path)))
    name = digest(b"onetwo")
    two = base64.b64encode(b"two").decode()
    with pytest.raises(BlobError, match="without its beginning"):
        blobs.receive(name, "a", {"data": two, "offset": 3, "last": True})
    assert blobs.missing([name]) == [name]


@pytest.mark.parametrize("order", [(0, 0, 2, 2, 4), (0, 2, 0, 2, 4, 4), (0, 2, 0, 4)])
def test_two_jobs_of_one_sender_may_send_it_in_turns(
    tmp_path: Path, order: tuple[int, ...]
) -> None:
    blobs, data = Blobs(Directory(str(tmp_path))), b"onetwo"
    for offset in order:
        piece = base64.b64encode(data[offset : offset + 2]).decode()
        frame = {"data": piece, "offset": offset, "last": offset == 4}
        blobs.receive(digest(data), "a", frame)
    assert (tmp_path / "blobs" / digest(data)).read_bytes() == data
    assert os.listdir(tmp_path / "blobs") == [digest(data)]


def test_a_file_stays_where_it_is(tmp_path: Path) -> None:
    home, job = tmp_path / "home", tmp_path / "job"
    home.mkdir()
    job.mkdir()
    blobs, directory = Blobs(Directory(str(home))), Directory(str(job))
    name = send(blobs, b"\xff\x00")
    objects = [{"kind": "ConfigMap", "binaryData": {"a": {"$file": name, "size": 2}, "b": "AA=="}}]
    blobs.keep(references(objects), directory)
    assert stored_files(objects) == {name: 2}
    assert resolved(objects, directory) == objects
    assert (job / "blobs" / name).read_bytes() == b"\xff\x00"


def test_what_nobody_uses_goes_in_the_end(tmp_path: Path) -> None:
    home = Directory(str(tmp_path))
    blobs = Blobs(home)
    old, kept, new = (send(blobs, data) for data in (b"old", b"kept", b"new"))
    (tmp_path / "job").mkdir()
    blobs.keep([kept], Directory(str(tmp_path / "job")))
    for name in (old, kept):
        os.utime(tmp_path / "blobs" / name, (1000, 1000))
    assert Blobs(home, now=lambda: 1000.0 + UNUSED_SECONDS).missing([old, kept, new]) == []
    for name in (old, kept):
        os.utime(tmp_path / "blobs" / name, (1000, 1000))
    later = Blobs(home, now=lambda: 1001.0 + UNUSED_SECONDS)
    assert later.missing([old, kept, new]) == [old]


def test_what_others_have_in_the_folder_stays_and_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "blobs").mkdir()
    others = [tmp_path / "blobs" / name for name in ("x" * 64, "F" * 64, "thesis.a")]
    for path in others:
        path.write_bytes(b"x" * 1000)
        os.utime(path, (0, 0))
    (tmp_path / "blobs" / ("0" * 64)).mkdir()
    blobs = Blobs(Directory(str(tmp_path)), limit=250)
    kept = [send(blobs, data) for data in (b"a" * 100, b"b" * 100)]
    blobs.forget("a")
    assert blobs.missing(kept) == []
    assert all(path.exists() for path in others)
