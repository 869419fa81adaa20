import json
import random
from pathlib import Path
from typing import Any

import pytest

from trainway.backends.logs.results import LARGEST, RESULT, Results
from trainway.sdk import function_boot


def lines_of(value: Any, moment: int = 1) -> list[bytes]:
    text = function_boot.encoded(value)
    made = function_boot.lines(text, type(value).__name__, moment)
    return [line.removesuffix(b"\n") for line in made]


def result(output: Path) -> Any:
    return json.loads((output / RESULT).read_text())


def noise(length: int) -> str:
    """What does not become smaller."""
    return random.Random(1).randbytes(length).hex()  # noqa: S311 - only noise


def test_a_value_is_taken_out_of_the_lines(tmp_path: Path) -> None:
    results = Results(tmp_path)
    assert results.take(b"hello") == b"hello"
    assert [results.take(line) for line in lines_of({"a": [1, None]})] == [None]
    assert result(tmp_path) == {"encoding": "json", "value": {"a": [1, None]}}


def test_text_before_a_piece_in_the_same_line_stays(tmp_path: Path) -> None:
    (line,) = lines_of(1)
    assert Results(tmp_path).take(b"no newline" + line) == b"no newline"
    assert result(tmp_path)["value"] == 1


def test_a_long_value_comes_in_pieces_that_a_pipe_takes_at_once(tmp_path: Path) -> None:
    value = noise(20_000)
    lines = lines_of(value)
    assert len(lines) > 5
    assert max(map(len, lines)) < 4096
    results = Results(tmp_path)
    for line in reversed(lines):
        results.take(line)
    assert result(tmp_path)["value"] == value


def test_pieces_read_twice_or_by_another_server_are_one_value(tmp_path: Path) -> None:
    value = noise(10_000)
    lines = lines_of(value)
    first = Results(tmp_path)
    for line in lines[:3]:
        first.take(line)
    assert not (tmp_path / RESULT).exists()
    second = Results(tmp_path)
    for line in lines[2:]:
        second.take(line)
    assert result(tmp_path)["value"] == value


def test_the_value_of_the_last_attempt_counts(tmp_path: Path) -> None:
    results = Results(tmp_path)
    for line in (*lines_of("old", 1), *lines_of("new", 2)):
        results.take(line)
    for line in lines_of("old", 1):
        Results(tmp_path).take(line)
    assert result(tmp_path)["value"] == "new"


def test_a_value_that_is_too_large_is_told_by_its_size(tmp_path: Path) -> None:
    lines = lines_of(noise(4_000_000))
    assert len(lines) == 1
    Results(tmp_path).take(lines[0])
    told = result(tmp_path)
    assert (told["encoding"], told["type"]) == ("large", "str")
    assert told["value"] > 8_000_000


def test_what_only_looks_like_a_piece_stays_a_line(tmp_path: Path) -> None:
    results = Results(tmp_path)
    for line in (
        b"\x1etrainway-result",
        b"\x1etrainway-result 1 0 1 (",
        b"trainway-result 1 0 1 a",
    ):
        assert results.take(line) == line
    torn = lines_of(1)[0][:-8]
    assert results.take(torn) is None
    assert not (tmp_path / RESULT).exists()


def test_a_value_that_unpacks_to_more_than_may_be_read_is_none(tmp_path: Path) -> None:
    results = Results(tmp_path / "output")
    for line in function_boot.lines("x" * (LARGEST + 1), "str", 1):
        results.take(line.removesuffix(b"\n"))
    assert not (tmp_path / "output" / RESULT).exists()


def test_what_boots_a_function_sends_no_more_than_may_be_read() -> None:
    assert function_boot.LARGEST_FILE == LARGEST
    text = function_boot.encoded("x" * LARGEST)
    told = json.loads(function_boot.bounded(text, "str"))
    assert told == {"encoding": "large", "type": "str", "value": len(text)}
    assert function_boot.bounded("x" * LARGEST, "str") == "x" * LARGEST


@pytest.mark.parametrize("name", ["result.json", "result.1", "result.time", ".trainway"])
def test_a_value_is_not_written_through_a_link(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "output" / ".trainway"
    (tmp_path / "elsewhere").mkdir()
    target = tmp_path / "elsewhere" / name
    target.touch()
    if name == ".trainway":
        folder.parent.mkdir()
        folder.symlink_to(tmp_path / "elsewhere")
    else:
        folder.mkdir(parents=True)
        (folder / name).symlink_to(target)
    for line in lines_of({"a": 1}):
        assert Results(tmp_path / "output").take(line) is None
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == [name]
    assert target.read_bytes() == b""
