import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from trainway.data.cache import Cache
from trainway.data.hub_testing import NAME, TOKEN, PretendedHub, served
from trainway.data.initializer import program, starter
from trainway.data.initializer.archive import archive
from trainway.data.initializer.program import Report, initialize, main
from trainway.data.initializer.request import REFUSED, request_of
from trainway.data.transfer import Wanted
from trainway.data.transfer_testing import MemoryStore

FILES = {
    "config.json": b"{}",
    "model.safetensors": b"w" * 5000,
    "pytorch_model.bin": b"w" * 5000,
    "original/x.pth": b"w",
}


def variables(hub: PretendedHub, home: Path, **more: str) -> dict[str, str]:
    return {
        "STORAGE_URI": f"hf://{NAME}",
        "HF_ENDPOINT": hub.address,
        "HF_HOME": str(home),
        "TRAINWAY_JOB_ID": "job-1",
        **more,
    }


def run(
    monkeypatch: pytest.MonkeyPatch, env: Mapping[str, str], *words: str
) -> tuple[int, list[str]]:
    """Run the program with these variables: how it ends, and what it says."""
    said: list[str] = []
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(program, "Report", lambda step: Report(step, said.append))
    return main(words), said


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_d12_a_model_comes_without_the_weights_of_other_formats(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "model"
    with served(PretendedHub(FILES)) as hub:
        env = variables(hub, tmp_path)
        assert run(monkeypatch, env, "model", "--target", str(target))[0] == 0
        asked = len(hub.ranges)
        status, said = run(monkeypatch, env, "model", "--target", str(target))

    assert files(target) == {"config.json", "model.safetensors"}
    assert (status, len(hub.ranges)) == (0, asked)
    assert said == [f"model: hf://{NAME} is here already"]


def test_another_job_takes_it_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(PretendedHub(FILES)) as hub:
        env = variables(hub, tmp_path, TRAINWAY_DATA_CACHE=str(tmp_path / "cache"))
        for job in ("1", "2"):
            target = tmp_path / job / "model"
            asked = len(hub.ranges)
            words = ("model", "--target", str(target), "--cached")
            status, said = run(monkeypatch, {**env, "TRAINWAY_JOB_ID": job}, *words)
            assert status == 0

    assert len(hub.ranges) == asked
    assert said[-1] == f"model: 2 files, 5.0 kB in {target}; 0 bytes were fetched"


def test_a_refused_token_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = str(tmp_path / "model")
    with served(PretendedHub(FILES, is_private=True)) as hub:
        without = variables(hub, tmp_path)
        status, said = run(monkeypatch, without, "model", "--target", target)
        assert status == REFUSED
        assert said[-2] == f"model: error: access to hf://{NAME} was denied (401)"
        assert "no token was found in ACCESS_TOKEN, HF_TOKEN, HUGGING_FACE_HUB_TOKEN" in said[-1]
        _, said = run(
            monkeypatch, {**without, "ACCESS_TOKEN": "wrong"}, "model", "--target", target
        )
        assert "the token of ACCESS_TOKEN was sent" in said[-1]
        for name in ("HF_TOKEN", "ACCESS_TOKEN"):
            monkeypatch.delenv("ACCESS_TOKEN", raising=False)
            status, _ = run(monkeypatch, {**without, name: TOKEN}, "model", "--target", target)
            assert status == 0
            (tmp_path / ".model.initialized").unlink()
            monkeypatch.delenv(name)


def test_a_workspace_that_cannot_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".model.initialized").mkdir()
    with served(PretendedHub(FILES)) as hub:
        status, said = run(
            monkeypatch, variables(hub, tmp_path), "model", "--target", str(tmp_path / "model")
        )

    assert status == program.FAILED
    assert said[-1].startswith(f"model: error: hf://{NAME}: Is a directory")


def test_that_nothing_is_left_to_fetch_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(PretendedHub({"pytorch_model.bin": b"w"})) as hub:
        status, said = run(
            monkeypatch, variables(hub, tmp_path), "model", "--target", str(tmp_path / "model")
        )

    assert status == REFUSED
    assert "none of the files" in said[-2]
    assert "IGNORE_PATTERNS" in said[-1]


def test_a_part_of_a_repository_keeps_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "model"
    with served(PretendedHub({"a.json": b"1", "part/b.json": b"2", "parts/c.json": b"3"})) as hub:
        env = variables(hub, tmp_path, STORAGE_URI=f"hf://{NAME}/part")
        words = ("model", "--target", str(target))
        assert run(monkeypatch, {**env, "INCLUDE_PATTERNS": "part,part/*"}, *words)[0] == 0
        assert files(target) == {"part/b.json"}

        status, said = run(monkeypatch, {**env, "INCLUDE_PATTERNS": "no,no/*"}, *words)
    assert status == REFUSED
    assert said[-1].startswith("model: hint: wanted are no, no/* and left out are")


def test_who_comes_second_waits_for_the_first(tmp_path: Path) -> None:
    source = tmp_path / "data"
    source.mkdir()
    (source / "a").write_bytes(b"1")
    env = {"STORAGE_URI": f"file://{source}", "TRAINWAY_JOB_ID": "job-1"}
    request, target = request_of("dataset", env), tmp_path / "w" / "dataset"
    said: list[str] = []
    inside, outside = threading.Event(), threading.Event()

    def first(line: str) -> None:
        if "fetching" in line:
            inside.set()
            assert outside.wait(30)

    def second(line: str) -> None:
        said.append(line)
        outside.set()

    threads = [
        threading.Thread(target=initialize, args=(target, request, env, Report("dataset", write)))
        for write in (first, second)
    ]
    threads[0].start()
    assert inside.wait(30)
    threads[1].start()
    for thread in threads:
        thread.join()

    assert said == [
        "dataset: waiting for another process that fetches it",
        f"dataset: file://{source} is here already",
    ]


def test_how_it_comes_on_is_told_now_and_then() -> None:
    said: list[str] = []
    times = iter((10.0, 11.0, 15.0, 16.0))
    report = Report("dataset", said.append, lambda: next(times))

    for arrived in (100, 200, 300, 400):
        report.progress(arrived, 400)

    assert said == ["dataset: 300 bytes of 400 bytes (75%)"]


def test_large_files_of_the_cache_take_no_room_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainway.data.placing.LARGE", 1000)
    with served(PretendedHub(FILES)) as hub:
        env = variables(hub, tmp_path)
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        request = request_of("model", env)
        initialize(tmp_path / "model", request, env, Report("model"), Cache(tmp_path / "cache"))

    large, small = tmp_path / "model/model.safetensors", tmp_path / "model/config.json"
    assert large.read_bytes() == FILES["model.safetensors"]
    assert small.stat().st_mode & 0o200
    if large.stat().st_nlink == 1:  # a file system that shares blocks
        assert large.stat().st_mode & 0o200
    else:
        assert not large.stat().st_mode & 0o222


def test_what_is_too_large_for_the_cache_goes_past_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(PretendedHub(FILES)) as hub:
        env = variables(hub, tmp_path)
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        cache = Cache(tmp_path / "cache", 1000)
        initialize(tmp_path / "model", request_of("model", env), env, Report("model"), cache)

    assert files(tmp_path / "model") == {"config.json", "model.safetensors"}


def test_what_has_no_room_in_the_cache_beside_live_jobs_goes_past_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    cache, store = Cache(tmp_path / "cache", 8000), MemoryStore({"a": b"a" * 5000})
    entry = store.stat("a")
    assert entry is not None
    held, _ = cache.lease(Wanted(store, entry, "s3://b/a", Path("unused")))
    with served(PretendedHub(FILES)) as hub, held:
        env = variables(hub, tmp_path)
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        report = Report("model", said.append)
        initialize(tmp_path / "model", request_of("model", env), env, report, cache)

    assert files(tmp_path / "model") == {"config.json", "model.safetensors"}
    assert "running jobs use the cache, which has no room for it" in said[1]
    assert held.path.read_bytes() == b"a" * 5000


def test_it_travels_as_one_file(tmp_path: Path) -> None:
    file, source = tmp_path / "i.zip", tmp_path / "source"
    file.write_bytes(archive())
    source.mkdir()
    (source / "a").write_bytes(b"1")
    target = tmp_path / "dataset"

    done = subprocess.run(
        [sys.executable, "-I", "-S", str(file), "dataset", "--target", str(target)],
        env={"STORAGE_URI": f"file://{source}"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert files(target) == {"a"}


def test_a_python_that_cannot_run_it_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(starter, "OLDEST", (99, 0))
    monkeypatch.setattr(starter, "others", list)
    monkeypatch.setattr("shutil.which", lambda _name: None)
    monkeypatch.setenv("STORAGE_URI", "s3://b/k")
    monkeypatch.setenv(starter.STARTED, "")

    assert starter.main(["dataset"]) == starter.REFUSED
    said = capsys.readouterr().out
    assert "this host has no Python 99.0 or later with the package obstore" in said
    assert "pip install obstore" in said


def test_what_a_killed_initializer_left_does_not_count(tmp_path: Path) -> None:
    source = tmp_path / "data"
    source.mkdir()
    (source / "a").write_bytes(b"1")
    env = {"STORAGE_URI": f"file://{source}", "TRAINWAY_JOB_ID": "job-1"}
    request, target = request_of("dataset", env), tmp_path / "dataset"
    note = tmp_path / ".dataset.initialized"
    for left in (b"", json.dumps({"job": "job-0"}).encode()):
        note.write_bytes(left)
        initialize(target, request, env, Report("dataset"))
        assert files(target) == {"a"}
        assert json.loads(note.read_text())["job"] == "job-1"


def test_a_data_cache_is_waited_for_and_nothing_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = {"STORAGE_URI": "cache://schema/table"}
    status, said = run(monkeypatch, env, "dataset", "--target", str(tmp_path / "dataset"))
    assert status == 2
    assert said[0] == "dataset: error: nobody said which cache has cache://schema/table"
    monkeypatch.setattr(program, "await_cache", lambda _uri, _environment: 1200)
    status, said = run(monkeypatch, env, "dataset", "--target", str(tmp_path / "dataset"))
    assert (status, said) == (0, ["dataset: cache://schema/table is ready: 1,200 rows"])
    assert not (tmp_path / "dataset").exists()


def test_a_hub_that_must_not_be_asked_ends_it_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with served(PretendedHub(FILES)) as hub:
        env = variables(hub, tmp_path, HF_HUB_OFFLINE="1")
        status, said = run(monkeypatch, env, "model", "--target", str(tmp_path / "model"))

    assert status == 2
    assert sum("HF_HUB_OFFLINE is set" in line for line in said) == 1


def test_keys_that_are_given_are_used_without_those_of_the_pod(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: dict[str, str] = {}
    monkeypatch.setattr(program, "initialize", lambda *_words: seen.update(os.environ))
    env = {
        "STORAGE_URI": "s3://b/d",
        "ACCESS_KEY_ID": "ours",
        "AWS_ACCESS_KEY_ID": "other",
        "AWS_SESSION_TOKEN": "other",
        "AWS_PROFILE": "other",
    }

    assert run(monkeypatch, env, "dataset")[0] == 0
    assert seen["AWS_ACCESS_KEY_ID"] == "ours"
    assert not {"AWS_SESSION_TOKEN", "AWS_PROFILE"} & seen.keys()
