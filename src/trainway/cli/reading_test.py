import io
import os
import sys
from pathlib import Path

import pytest

from trainway.cli import reading
from trainway.cli.reading import read_inputs
from trainway.cli.refusal import RefusedError
from trainway.errors import UsageError


class Stdin:
    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


def refusal(*filenames: str | Path) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        read_inputs([str(filename) for filename in filenames])
    return caught.value


def test_objects_know_the_file_they_came_from(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: 1\n---\nb: 2\n")
    (tmp_path / "c.json").write_text('{"kind": "List", "items": [{"c": 3}]}')

    inputs = read_inputs([str(tmp_path / "a.yaml"), str(tmp_path / "c.json")])

    assert [(Path(item.source).name, item.data) for item in inputs] == [
        ("a.yaml", {"a": 1}),
        ("a.yaml", {"b": 2}),
        ("c.json", {"c": 3}),
    ]


def test_stdin_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Stdin(b"a: 1"))

    (item,) = read_inputs(["-"])

    assert (item.source, item.data) == ("<stdin>", {"a": 1})


def test_stdin_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="only once"):
        read_inputs(["-", "-"])


def test_a_folder_gives_its_manifests_in_order(tmp_path: Path) -> None:
    for name in ("b.yml", "a.yaml", "c.json"):
        (tmp_path / name).write_text(f"kind: {name}" if name != "c.json" else '{"kind": "c.json"}')
    (tmp_path / "notes.txt").write_text("{")
    (tmp_path / "more").mkdir()

    assert [item.data["kind"] for item in read_inputs([str(tmp_path)])] == [
        "a.yaml",
        "b.yml",
        "c.json",
    ]


def test_all_unreadable_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("a: 1\n\na: 2\n")
    (tmp_path / "binary.yaml").write_bytes(b"a: 1\nb: \xff\n")
    (tmp_path / "good.yaml").write_text("a: 1")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder.yaml").mkdir()

    error = refusal(tmp_path / "none.yaml", tmp_path, tmp_path / "folder")

    assert error.exit_code == 2
    assert [line.removeprefix(f"{tmp_path}/") for line in error.lines] == [
        "none.yaml: No such file or directory",
        'bad.yaml: line 3, column 1: the key "a" appears twice',
        "binary.yaml: line 2, column 4: the byte 0xFF is not UTF-8",
        "folder: there are no .json, .yaml, .yml files in it",
    ]


def test_a_file_without_objects_is_refused_as_invalid(tmp_path: Path) -> None:
    (tmp_path / "empty.yaml").write_text("# nothing\n")

    error = refusal(tmp_path / "empty.yaml")

    assert error.exit_code == 1
    assert error.lines == (f"{tmp_path}/empty.yaml: there are no objects in it",)


def test_utf_16_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes("a: größe".encode("utf-16"))

    (item,) = read_inputs([str(tmp_path / "a.yaml")])

    assert item.data == {"a": "größe"}


def test_half_a_utf_16_character_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes("a: 1".encode("utf-16") + b"x")

    assert "is not UTF-16" in refusal(tmp_path / "a.yaml").lines[0]


def test_a_huge_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LARGEST", 2**20)
    with (tmp_path / "a.yaml").open("wb") as file:
        file.truncate(2**20 + 1)

    assert refusal(tmp_path / "a.yaml").lines == (f"{tmp_path}/a.yaml: larger than 1 MiB",)


def test_an_endless_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LARGEST", 2**20)

    assert refusal("/dev/zero").lines == ("/dev/zero: larger than 1 MiB",)


def test_a_pipe_is_read(tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    os.write(write_end, b"a: 1")
    os.close(write_end)

    (item,) = read_inputs([f"/dev/fd/{read_end}"])

    assert item.data == {"a": 1}


@pytest.mark.parametrize("name", ["", "a\0b", "x" * 5000])
def test_a_strange_name_is_refused(name: str) -> None:
    assert refusal(name).exit_code == 2
