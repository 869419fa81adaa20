"""Files that go to the server ahead of a job: once for each content, and never as a whole."""

import hashlib
import json
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from trainway.engine.testing import jobset
from trainway.errors import ConflictError, InvalidError, UnreadableError, UsageError
from trainway.json_types import Json
from trainway.sdk.address import Address
from trainway.sdk.file_upload import local_file, send, with_digests
from trainway.sdk.rest import Rest, Submission
from trainway.sdk.transport import Transport
from trainway.server.testing import LIMIT_S, RunningServer


class Sending:
    """What is submitted, and what is seen of its way."""

    def __init__(self, server: RunningServer) -> None:
        self.socket = str(json.loads((server.home / "server.json").read_text())["socket"])
        self.rest = Rest(Transport(Address(self.socket)))
        self.progress: list[tuple[int, int]] = []
        self.rest.on_upload = lambda sent, size: self.progress.append((sent, size))

    def files(self, *paths: Path) -> dict[str, Json]:
        _, files = with_digests([config_map(*paths)])
        return files

    def missing(self, name: str) -> list[str]:
        answer = self.rest.transport.request("POST", "/files/missing", body={"files": [name]})
        return list(answer["missing"])

    def send(self, *paths: Path) -> None:
        send(self.rest.transport, self.files(*paths), self.rest.on_upload)


@pytest.fixture
def sending(server: RunningServer) -> Sending:
    return Sending(server)


def config_map(*paths: Path) -> Json:
    values = {path.name: local_file(path, path.stat().st_size) for path in paths}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "f"},
        "binaryData": values,
    }


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


def test_only_what_is_new_is_sent(server: RunningServer, sending: Sending, tmp_path: Path) -> None:
    large = written(tmp_path / "large", os.urandom(3_500_000))
    same = written(tmp_path / "same", large.read_bytes())
    empty = written(tmp_path / "empty", b"")
    sending.send(large, same, empty)
    assert sending.progress[0] == (0, 3_500_000)
    assert sending.progress[-1] == (3_500_000, 3_500_000)
    for path in (large, empty):
        name = hashlib.sha256(path.read_bytes()).hexdigest()
        assert (server.home / "blobs" / name).read_bytes() == path.read_bytes()

    sending.progress.clear()
    sending.send(large, same, empty)
    assert sending.progress == []
    small = written(tmp_path / "small", b"new")
    sending.send(large, small)
    assert sending.progress == [(0, 3), (3, 3)]


def test_a_file_that_changes_on_its_way_is_not_taken(
    server: RunningServer, sending: Sending, tmp_path: Path
) -> None:
    file = written(tmp_path / "file", b"before")
    files = sending.files(file)
    file.write_bytes(b"after!")
    with pytest.raises(ConflictError, match="changed while it was sent"):
        send(sending.rest.transport, files, sending.rest.on_upload)
    file.write_bytes(b"x")
    with pytest.raises(UnreadableError, match="changed while it was sent"):
        send(sending.rest.transport, files, sending.rest.on_upload)
    blobs = server.home / "blobs"
    # The sender of a file that became shorter goes away, which the server hears a moment later.
    wait_for(lambda: all(len(path.name) == 64 for path in blobs.iterdir()))
    contents = [path.read_bytes() for path in blobs.iterdir() if len(path.name) == 64]
    assert not {b"before", b"after!", b"x"} & set(contents)


def test_a_sender_who_goes_away_leaves_what_came_as_a_whole(
    server: RunningServer, sending: Sending, tmp_path: Path
) -> None:
    first = written(tmp_path / "first", b"whole")
    (name,) = sending.files(first)
    head = b"POST /api/v1/files HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n"
    with socket.socket(socket.AF_UNIX) as leaving:
        leaving.connect(sending.socket)
        leaving.sendall(head + f"{name} 5\nwhole{'0' * 64} 900\n".encode() + b"x" * 100)
    wait_for(lambda: not sending.missing(name))


def test_the_body_must_be_files(sending: Sending) -> None:
    with pytest.raises(UsageError, match="not a sequence of files"):
        sending.rest.transport.upload("/files", [b"x" * 200], 200)


def test_a_backend_that_takes_no_files_says_so(sending: Sending, tmp_path: Path) -> None:
    file = written(tmp_path / "file", b"content")
    with pytest.raises(InvalidError, match="local does not accept files that are sent ahead"):
        sending.rest.submit(Submission([config_map(file), jobset("x", "true")], {}))
    broken = {**config_map(), "data": {"a": {"b": "c"}}}
    with pytest.raises(InvalidError, match=r"ConfigMap/f: data\[a\]: it is not text"):
        sending.rest.submit(Submission([broken, jobset("x", "true")], {}))
