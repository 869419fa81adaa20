import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from trainway.agent.transfer import output_stream
from trainway.agent.transfer.output_stream import MARK, PART, PIECE, Receiver, sent


def line(**head: Any) -> bytes:
    return json.dumps(head).encode() + b"\n"


def file(path: str, data: bytes, end: bytes = b"0\n") -> bytes:
    head = line(path=path, mode=0o640, version=[len(data), 5_000_000_000])
    return head + b"%d\n" % len(data) + data + end


def received(root: Path, data: bytes, size: int = 7) -> Receiver:
    """Have all of it taken, in pieces of that size."""
    taking = Receiver(str(root))
    for begin in range(0, len(data), size):
        taking.feed(data[begin : begin + size])
    taking.close()
    return taking


@pytest.fixture
def output(tmp_path: Path) -> Path:
    folder = tmp_path / "output"
    (folder / "deep" / "empty").mkdir(parents=True)
    (folder / "deep" / "model.pt").write_bytes(bytes(range(256)) * 1000)
    (folder / "deep" / "latest").symlink_to("model.pt")
    (folder / "ü\n.txt").write_text("x")
    (folder / "nothing").touch(mode=0o640)
    os.mkfifo(folder / "pipe")
    (folder / MARK).touch()
    return folder


def test_a_directory_arrives_as_it_was(output: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    taking = received(copy, b"".join(sent(str(output), {})), 1000)

    assert (taking.is_complete, taking.refused) == (True, [])
    found = sorted(str(path.relative_to(copy)) for path in copy.rglob("*"))
    assert found == ["deep", "deep/empty", "deep/latest", "deep/model.pt", "nothing", "ü\n.txt"]
    assert (copy / "deep" / "latest").read_bytes() == bytes(range(256)) * 1000
    assert (copy / "nothing").stat().st_mode & 0o777 == 0o640
    before, after = (each / "deep" / "model.pt" for each in (output, copy))
    assert before.stat().st_mtime_ns == after.stat().st_mtime_ns


def test_only_what_changed_comes_again_and_what_is_gone_goes(output: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    known = received(copy, b"".join(sent(str(output), {})), PIECE).versions
    (output / "nothing").unlink()
    (output / "new").write_text("new")

    stream = b"".join(sent(str(output), known))
    taking = received(copy, stream)
    taking.prune()

    assert len(stream) < 1000
    assert set(taking.versions) == {"deep/model.pt", "new", "ü\n.txt"}
    assert not (copy / "nothing").exists()
    assert (copy / "deep" / "empty").is_dir()


@dataclass(frozen=True)
class Case:
    name: str
    stream: bytes


REFUSED = [
    Case("above", file("../evil", b"x")),
    Case("absolute", file("/evil", b"x")),
    Case("dots", file("a/../../evil", b"x")),
    Case("nothing", file("", b"x")),
    Case("mark", file(MARK, b"x")),
    Case("part", file(PART, b"x")),
    Case("link-above", line(path="evil", link="../..")),
    Case("link-absolute", line(path="evil", link="/etc")),
    Case("folder-above", line(path="../evil", folder=True)),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_nothing_leads_out_of_the_directory(case: Case, tmp_path: Path) -> None:
    root = tmp_path / "root" / "copy"
    taking = received(root, case.stream + file("good", b"y") + line(end=2))

    assert (len(taking.refused), taking.is_complete) == (1, True)
    assert [path.name for path in root.iterdir()] == ["good"]
    assert [path.name for path in (tmp_path / "root").iterdir()] == ["copy"]


def test_a_link_on_the_way_is_replaced_by_a_folder(tmp_path: Path) -> None:
    root = tmp_path / "copy"
    received(root, line(path="a", link="b") + file("a/x", b"1") + line(path="b", folder=True))

    assert not (root / "a").is_symlink()
    assert (root / "a" / "x").read_bytes() == b"1"


def test_a_file_that_changed_meanwhile_or_came_in_part_does_not_count(tmp_path: Path) -> None:
    root = tmp_path / "copy"
    received(root, file("model", b"old") + line(end=1))

    torn = received(root, file("model", b"half", end=b"-1\n") + line(end=1))
    part = received(root, file("model", b"half")[:-4])

    assert (torn.is_complete, torn.versions, part.is_complete) == (True, {}, False)
    assert [(path.name, path.read_bytes()) for path in root.iterdir()] == [("model", b"old")]


DAMAGED = [
    Case("no-json", b"nonsense\n"),
    Case("no-object", b"[]\n"),
    Case("endless-line", b"x" * 70_000),
    Case("large-piece", line(path="a", mode=0, version=[1, 1]) + b"99999999\n"),
    Case("no-number", line(path="a", mode=0, version=[1, 1]) + b"many\n"),
]


@pytest.mark.parametrize("case", DAMAGED, ids=lambda case: case.name)
def test_what_is_no_such_stream_is_an_error(case: Case, tmp_path: Path) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - JSON and numbers have words of their own
        received(tmp_path / "copy", case.stream, PIECE)


def test_it_runs_as_text_in_any_python(output: Path, tmp_path: Path) -> None:
    text = Path(output_stream.__file__).read_text()
    copy, mark = tmp_path / "copy", tmp_path / "mark"

    def run(*words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-I", "-S", "-c", text, *words]
        return subprocess.run(command, input=given, capture_output=True, check=False)

    stream = run("send", str(output), given=b"{}\n").stdout
    cut = run("receive", str(copy), str(mark), given=stream[:-5])
    assert (cut.returncode, mark.exists()) == (1, False)
    assert run("receive", str(copy), str(mark), given=stream).returncode == 0
    assert mark.exists()
    assert (copy / "deep" / "model.pt").stat().st_size == 256_000
    run("release", str(copy))
    assert (copy / MARK).exists()
