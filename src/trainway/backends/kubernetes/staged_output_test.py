import os
from pathlib import Path

import pytest

from trainway.backends.kubernetes.staged_output import (
    discard,
    gather,
    make_mark,
    merge,
    seed,
    stage,
    unfinished,
    unfinished_mark,
)


def put(folder: Path, name: str, text: str, time: int) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (time, time))


def found(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_text() for path in files}


def test_what_no_pod_has_sent_stays(tmp_path: Path) -> None:
    put(tmp_path / "output", "a", "1", 1)
    gather(tmp_path)
    stage(tmp_path, "node-0-0").mkdir(parents=True)
    discard(tmp_path)
    gather(tmp_path)
    assert found(tmp_path) == {"output/a": "1"}


def test_the_newest_of_all_pods_counts_and_what_none_has_is_gone(tmp_path: Path) -> None:
    put(tmp_path / "output", "old", "x", 1)
    put(tmp_path / "output", ".trainway/result", "kept", 1)
    put(stage(tmp_path, "node-0-0"), "sub/both", "older", 5)
    put(stage(tmp_path, "node-0-0"), "clash", "file", 9)
    put(stage(tmp_path, "node-0-1"), "sub/both", "newer", 7)
    put(stage(tmp_path, "node-0-1"), "clash/inner", "folder", 2)
    (stage(tmp_path, "node-0-1") / "link").symlink_to("sub/both")
    (stage(tmp_path, "node-0-1") / "empty").mkdir()

    gather(tmp_path)

    output = tmp_path / "output"
    assert found(output) == {
        "sub/both": "newer",
        "clash/inner": "folder",
        "link": "newer",
        ".trainway/result": "kept",
    }
    assert (output / "empty").is_dir()
    assert [path.name for path in tmp_path.iterdir()] == ["output"]


@pytest.mark.parametrize("at", range(4))
def test_one_that_was_interrupted_is_done_again(
    at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "output", ".trainway/result", "kept", 1)
    put(stage(tmp_path, "node-0-0"), "a", "1", 1)
    steps = 0

    def stopping(self: Path, target: Path) -> Path:
        nonlocal steps
        steps += 1
        if steps > at:
            raise KeyboardInterrupt
        os.replace(self, target)  # noqa: PTH105 - the method is the one that is replaced
        return target

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", stopping)
        try:
            gather(tmp_path)
        except KeyboardInterrupt:
            assert at < 2
    gather(tmp_path)

    assert found(tmp_path) == {"output/a": "1", "output/.trainway/result": "kept"}


def test_it_is_known_which_pods_have_not_sent_all(tmp_path: Path) -> None:
    assert unfinished(tmp_path) == []
    for place in ("node-0-0", "node-0-1"):
        make_mark(unfinished_mark(tmp_path, place))
        put(stage(tmp_path, place), "a", "1", 1)
    unfinished_mark(tmp_path, "node-0-0").unlink()
    assert unfinished(tmp_path) == ["node-0-1"]
    gather(tmp_path)
    assert (unfinished(tmp_path), found(tmp_path)) == ([], {"output/a": "1"})


def test_the_output_follows_what_pods_send_while_it_is_read(tmp_path: Path) -> None:
    output, first, second = tmp_path / "output", stage(tmp_path, "node-0-0"), stage(tmp_path, "b")
    merge(tmp_path)
    assert not output.exists()
    put(output, ".trainway/result", "kept", 1)
    put(output, "old", "x", 1)
    put(first, "sub/both", "older", 5)
    put(first, ".trainway/result", "of a pod", 9)
    put(first, "clash", "file", 9)
    merge(tmp_path)
    assert found(output) == {".trainway/result": "kept", "sub/both": "older", "clash": "file"}
    with (output / "sub" / "both").open() as reader:
        put(second, "sub/both", "newer", 7)
        put(second, "clash/inner", "folder", 2)
        (second / "empty").mkdir()
        merge(tmp_path)
        assert reader.read() == "older"  # a file is replaced, and never written to
    merge(tmp_path)
    expected = {".trainway/result": "kept", "sub/both": "newer", "clash/inner": "folder"}
    assert found(output) == expected
    assert (output / "empty").is_dir()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["leaving", "output"]


def test_what_is_here_already_does_not_come_again(tmp_path: Path) -> None:
    output, place = tmp_path / "output", stage(tmp_path, "node-0-0")
    seed(tmp_path, "node-0-0")
    put(output, "sub/a", "1", 1)
    put(output, ".trainway/result", "kept", 1)
    put(output, "b", "of the job", 1)
    put(place, "b", "of the pod", 2)
    seed(tmp_path, "node-0-0")
    assert found(place) == {"sub/a": "1", "b": "of the pod"}
    assert (place / "sub" / "a").stat().st_mtime == 1
