from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.transfer import output_copies
from trainway.agent.transfer.output_copies import OutputCopies, RefusedPathError
from trainway.json_types import Json

WHEN = 1_700_000_000_123_456_789


def copies(path: Path) -> OutputCopies:
    (path / "output").mkdir(exist_ok=True)
    return OutputCopies(Directory(str(path)))


def piece(path: str, *, offset: int = 0, last: bool = True, **more: Any) -> Json:
    return {"path": path, "offset": offset, "last": last, "mtime_ns": WHEN, "mode": 0o644, **more}


@dataclass(frozen=True)
class Case:
    name: str
    path: str
    link: str | None = None


REFUSED = [
    Case("another directory of the job", "logs/x"),
    Case("up", "output/../x"),
    Case("up within", "output/a/../../x"),
    Case("absolute", "/etc/passwd"),
    Case("the directory itself", "output"),
    Case("no name", "output/"),
    Case("an empty name", "output//x"),
    Case("a null byte", "output/x\0y"),
    Case("a link to an absolute path", "output/x", "/etc/passwd"),
    Case("a link that leads out", "output/x", "../plan.json"),
    Case("a link that leads out from below", "output/a/x", "../../plan.json"),
    Case("a link that goes up through another", "output/x", "a/../../plan.json"),
    Case("a link to nothing", "output/x", ""),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_nothing_is_written_outside(tmp_path: Path, case: Case) -> None:
    outputs = copies(tmp_path)
    more: Json = {} if case.link is None else {"link": case.link}
    with pytest.raises(RefusedPathError):
        outputs.take("a", piece(case.path, **more), b"evil")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["incoming", "output"]


def test_a_directory_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    outputs = copies(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "output" / "sub").symlink_to(outside)
    with pytest.raises(OSError, match=r"sub|Not a directory|symbolic"):
        outputs.take("a", piece("output/sub/x"), b"evil")
    assert list(outside.iterdir()) == []


def test_a_file_is_there_when_its_last_byte_has_come(tmp_path: Path) -> None:
    outputs = copies(tmp_path)
    file = tmp_path / "output" / "deep" / "model.pt"
    outputs.take("a", piece("output/deep/model.pt", last=False), b"abc")
    assert not file.exists()
    outputs.take("a", piece("output/deep/model.pt", offset=3, mode=0o755), b"def")
    assert file.read_bytes() == b"abcdef"
    assert file.stat().st_mtime_ns == WHEN
    assert file.stat().st_mode & 0o777 == 0o755
    assert outputs.whole() == {"output/deep/model.pt": [6, WHEN]}
    assert list((tmp_path / "incoming").iterdir()) == []


def test_a_transfer_that_lacks_a_piece_comes_to_nothing(tmp_path: Path) -> None:
    outputs = copies(tmp_path)
    outputs.take("a", piece("output/x", last=False), b"abc")
    outputs.take("a", piece("output/x", offset=6), b"ghi")
    assert not (tmp_path / "output" / "x").exists()
    outputs.take("a", piece("output/x"), b"new")
    assert (tmp_path / "output" / "x").read_bytes() == b"new"


def test_two_hosts_do_not_mix(tmp_path: Path) -> None:
    outputs = copies(tmp_path)
    outputs.take("a", piece("output/x", last=False), b"aaa")
    outputs.take("b", piece("output/x", last=False), b"bbb")
    outputs.take("b", piece("output/x", offset=3), b"BBB")
    outputs.take("a", piece("output/x", offset=3), b"AAA")
    assert (tmp_path / "output" / "x").read_bytes() == b"aaaAAA"


def test_links_within_the_output_are_made_again(tmp_path: Path) -> None:
    outputs = copies(tmp_path)
    outputs.take("a", piece("output/steps/5"), b"five")
    outputs.take("a", piece("output/steps/last", link="5"), b"")
    outputs.take("a", piece("output/steps/best", link="../steps/5"), b"")
    assert (tmp_path / "output" / "steps" / "last").read_bytes() == b"five"
    assert (tmp_path / "output" / "steps" / "best").read_bytes() == b"five"


def test_a_link_that_finds_no_place_leaves_nothing_behind(tmp_path: Path) -> None:
    outputs = copies(tmp_path)
    outputs.take("a", piece("output/latest/model"), b"m")
    for _ in range(2):
        with pytest.raises(IsADirectoryError):
            outputs.take("a", piece("output/latest", link="5"), b"")
    assert outputs.whole().keys() == {"output/latest/model"}
    assert [path.name for path in (tmp_path / "output").iterdir()] == ["latest"]
    assert list((tmp_path / "incoming").iterdir()) == []


def test_what_an_earlier_agent_had_half_of_is_cleared_away(tmp_path: Path) -> None:
    copies(tmp_path).take("a", piece("output/x", last=False), b"abc")
    assert len(list((tmp_path / "incoming").iterdir())) == 1
    copies(tmp_path)
    assert list((tmp_path / "incoming").iterdir()) == []


def test_a_host_gets_what_it_lacks_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output_copies, "PIECE", 4)
    outputs = copies(tmp_path)
    outputs.take("a", piece("output/x"), b"abcdefghij")
    outputs.take("a", piece("output/empty"), b"")
    assert outputs.missing_on("a") == []
    assert outputs.missing_on("b") == ["output/empty", "output/x"]
    sent = [item for path in outputs.missing_on("b") for item in outputs.pieces("b", path)]
    assert [(fields["path"], fields["offset"], fields["last"], data) for fields, data in sent] == [
        ("output/empty", 0, True, b""),
        ("output/x", 0, False, b"abcd"),
        ("output/x", 4, False, b"efgh"),
        ("output/x", 8, True, b"ij"),
    ]
    assert {fields["mtime_ns"] for fields, _ in sent} == {WHEN}
    assert outputs.missing_on("b") == []
    outputs.forget_host("b")
    assert len(outputs.missing_on("b")) == 2
