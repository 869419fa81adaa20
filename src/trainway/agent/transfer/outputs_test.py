import base64
import os
from pathlib import Path

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.transfer.outputs import PIECE, Outputs


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "output").mkdir()
    return tmp_path / "output"


def sent(outputs: Outputs) -> dict[str, bytes]:
    """What a receiver keeps: files of which the last piece came."""
    whole: dict[str, bytes] = {}
    part = b""
    while True:
        frame = outputs.next()
        if frame is None:
            return whole
        part = (part if frame["offset"] else b"") + base64.b64decode(frame["data"])
        if frame["last"]:
            whole[frame["path"]] = part


def test_a_file_is_sent_once_it_has_not_changed_for_a_second(folder: Path) -> None:
    outputs = Outputs(Directory(str(folder.parent)), {})
    file = folder / "x"
    file.write_bytes(b"1")
    outputs.look(10.0)
    assert sent(outputs) == {}
    file.write_bytes(b"12")
    outputs.look(11.0)
    assert sent(outputs) == {}
    outputs.look(11.9)
    assert sent(outputs) == {}
    outputs.look(12.0)
    assert sent(outputs) == {"output/x": b"12"}
    outputs.look(20.0)
    assert sent(outputs) == {}


def test_at_the_end_everything_is_sent_that_changed(folder: Path) -> None:
    outputs = Outputs(Directory(str(folder.parent)), {})
    (folder / "deep").mkdir()
    (folder / "deep" / "a").write_bytes(b"a" * (PIECE + 1))
    (folder / "empty").touch()
    outputs.look(0.0, everything=True)
    assert sent(outputs) == {"output/deep/a": b"a" * (PIECE + 1), "output/empty": b""}
    outputs.look(0.0, everything=True)
    assert outputs.idle


def test_a_file_that_changes_while_it_is_sent_is_given_up_and_comes_later(folder: Path) -> None:
    outputs = Outputs(Directory(str(folder.parent)), {})
    file = folder / "x"
    file.write_bytes(b"a" * (2 * PIECE))
    outputs.look(0.0, everything=True)
    first = outputs.next()
    assert first is not None
    assert not first["last"]
    file.write_bytes(b"b" * (2 * PIECE))
    os.utime(file, ns=(1, 1))
    assert sent(outputs) == {}
    outputs.look(1.0)
    outputs.look(2.0)
    assert sent(outputs) == {"output/x": b"b" * (2 * PIECE)}


def test_a_file_that_grows_at_the_end_is_sent_as_it_was(folder: Path) -> None:
    outputs = Outputs(Directory(str(folder.parent)), {})
    file = folder / "x"
    file.write_bytes(b"a" * (PIECE + 1))
    outputs.look(0.0, everything=True, strict=False)
    outputs.next()
    with file.open("ab") as grown:
        grown.write(b"more")
    frame = outputs.next()
    assert frame is not None
    assert (frame["last"], frame["size"]) == (True, PIECE + 1)


def test_what_the_receiver_has_is_not_sent(folder: Path) -> None:
    (folder / "x").write_bytes(b"1")
    status = (folder / "x").stat()
    known = {"output/x": (status.st_size, status.st_mtime_ns)}
    outputs = Outputs(Directory(str(folder.parent)), known)
    outputs.look(0.0, everything=True)
    assert outputs.idle


def test_a_file_that_is_gone_does_not_matter(folder: Path) -> None:
    outputs = Outputs(Directory(str(folder.parent)), {})
    (folder / "x").write_bytes(b"1")
    (folder / "y").write_bytes(b"2")
    outputs.look(0.0, everything=True)
    (folder / "x").unlink()
    assert sent(outputs) == {"output/y": b"2"}


def test_pipes_and_sockets_are_left_alone(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    outputs = Outputs(Directory(str(folder.parent)), {})
    outputs.look(0.0, everything=True)
    assert outputs.idle
