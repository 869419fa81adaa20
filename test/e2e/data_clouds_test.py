"""`trainway data` with Google's and Azure's stores, as far as their emulators go."""

import itertools
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from cloud_stores import CloudStore
from data_s3_test import COPY, PART, SENT_PART, recorded
from installation import Installation
from patience import until
from s3_server import CountingProxy

from trainway.data.azure_blocks import block_of
from trainway.data.multipart import Part
from trainway.data.object_store import ObjectStore
from trainway.data.uri import parse

NUMBERS: Final = itertools.count()
CONTENT: Final = random.Random(4).randbytes(100 * PART + 5)  # noqa: S311 - content of a test
LARGE: Final = random.Random(5).randbytes(20_000_000)  # noqa: S311 - content of a test


@pytest.fixture
def bucket(cloud_store: CloudStore) -> str:
    name = f"bucket{next(NUMBERS)}"  # fake-gcs-server does not know "%2D"
    cloud_store.make(name)
    return f"{cloud_store.scheme}://{name}"


@pytest.fixture
def user(cloud_store: CloudStore, tmp_path: Path) -> Installation:
    return Installation(tmp_path / "home", cloud_store.variables(cloud_store.port))


def test_a_folder_goes_there_and_back_and_nothing_beyond_it_is_removed(
    cloud_store: CloudStore, bucket: str, user: Installation, tmp_path: Path
) -> None:
    files = {"a.json": b"{}", "d/e f/ü.bin": CONTENT, "large ü": LARGE}
    source = tmp_path / "source"
    for name, text in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(text)
    size = sum(map(len, files.values()))

    user.run("data", "copy", str(source), f"{bucket}/run")
    user.run("data", "copy", str(source / "a.json"), f"{bucket}/running")
    user.run("data", "copy", f"{bucket}/run", str(tmp_path / "back"))
    again = user.json("data", "copy", f"{bucket}/run", str(tmp_path / "back"))
    listed = user.run("data", "ls", "-r", f"{bucket}/run", "-o", "name")
    measured = user.json("data", "du", f"{bucket}/run")
    removed = user.json("data", "rm", "-y", f"{bucket}/run")

    assert {name: (tmp_path / "back" / name).read_bytes() for name in files} == files
    assert again["transferredBytes"] == 0
    assert listed.splitlines() == sorted(files)
    assert (measured["files"], measured["bytes"]) == (len(files), size)
    assert removed == {"files": len(files), "bytes": size}
    assert user.run("data", "ls", bucket, "-o", "name") == "running\n"


def test_a_copy_that_is_killed_fetches_only_what_is_missing(
    cloud_store: CloudStore, bucket: str, user: Installation, tmp_path: Path
) -> None:
    (tmp_path / "here").write_bytes(CONTENT)
    user.run("data", "copy", str(tmp_path / "here"), f"{bucket}/big")
    target, kills = tmp_path / "big", 3
    with CountingProxy(cloud_store.port).opened() as proxy:
        variables = {**os.environ, **cloud_store.variables(proxy.port)}
        for number in range(kills + 1):
            here, limit = recorded(target), proxy.given + 20 * PART
            proxy.starts.clear()
            with subprocess.Popen(
                [sys.executable, "-c", COPY, f"{bucket}/big", str(target)], env=variables
            ) as process:

                def kill(
                    given: int,
                    limit: int = limit if number < kills else 1 << 40,
                    process: "subprocess.Popen[bytes]" = process,
                ) -> None:
                    if given >= limit:
                        process.kill()

                proxy.on_bytes = kill
            assert here.isdisjoint(proxy.starts), "a part that was here is fetched again"
            assert (process.returncode == 0) == (number == kills)

    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize(
    "kills", [pytest.param(3), pytest.param(100, marks=pytest.mark.stress)], ids=str
)
def test_an_upload_that_is_killed_sends_only_what_is_missing(
    kills: int,
    cloud_store: CloudStore,
    bucket: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, value in cloud_store.variables(cloud_store.port).items():
        monkeypatch.setenv(name, value)
    store = ObjectStore(parse(bucket))
    large = random.Random(6).randbytes(7 * SENT_PART + 5)  # noqa: S311 - content of a test
    (tmp_path / "large").write_bytes(large)
    command = [sys.executable, "-c", COPY, str(tmp_path / "large"), f"{bucket}/large"]
    chance, killed, kept, is_done = random.Random(kills), 0, 0, False  # noqa: S311 - kills
    with CountingProxy(cloud_store.port).opened() as proxy:
        variables = {**os.environ, **cloud_store.variables(proxy.port)}
        while killed < kills or not is_done:
            here, before = stored(store, tmp_path), proxy.taken
            proxy.sent.clear()
            proxy.blocks.clear()
            missing = len(large) - sum(part.size for part in here.values())
            limit = before + (chance.uniform(0.7, 1) * missing if killed < kills else 1 << 40)
            with subprocess.Popen(command, env=variables) as process:

                def kill(
                    taken: int,
                    limit: float = limit,
                    process: "subprocess.Popen[bytes]" = process,
                ) -> None:
                    if taken >= limit:
                        process.kill()

                proxy.on_taken = kill
            until(lambda: proxy.ways == 0, "what was on its way does not arrive")
            is_done = process.returncode == 0
            killed += not is_done
            kept += len(here)
            assert set(here).isdisjoint(numbers(proxy)), "a part that was there is sent again"
            assert proxy.taken - before < missing + SENT_PART  # and what is said about it

    assert kept
    assert not list((tmp_path / "cache" / "trainway" / "uploads").iterdir())
    found = store.stat("large")
    assert found is not None
    assert b"".join(map(bytes, store.read(found, 0, found.size))) == large


def test_what_was_sent_of_a_file_that_has_changed_is_not_in_the_object(
    cloud_store: CloudStore, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, value in cloud_store.variables(cloud_store.port).items():
        monkeypatch.setenv(name, value)
    store, path = ObjectStore(parse(bucket)), tmp_path / "large"
    path.write_bytes(LARGE)
    command = [sys.executable, "-c", COPY, str(path), f"{bucket}/large"]
    with CountingProxy(cloud_store.port).opened() as proxy:
        variables = {**os.environ, **cloud_store.variables(proxy.port)}
        with subprocess.Popen(command, env=variables) as process:
            proxy.on_taken = lambda taken: process.kill() if taken > 2.2 * SENT_PART else None
        assert process.returncode
        before = remembered(tmp_path)
        proxy.on_taken = lambda _taken: None
        path.write_bytes(LARGE[::-1])
        subprocess.run(command, env=variables, check=True)

    found = store.stat("large")
    assert found is not None
    assert b"".join(map(bytes, store.read(found, 0, found.size))) == LARGE[::-1]
    parts = store.parts("large")
    assert parts is not None
    assert not parts.there(before), "what was sent before is still there"


def remembered(tmp_path: Path) -> str:
    """The number of the upload that is written down; empty: there is none."""
    notes = list((tmp_path / "cache" / "trainway" / "uploads").glob("*.json"))
    return str(json.loads(notes[0].read_text() or "{}").get("upload", "")) if notes else ""


def stored(store: ObjectStore, tmp_path: Path) -> dict[int, Part]:
    """The parts that the store has of an upload that is not whole."""
    upload, parts = remembered(tmp_path), store.parts("large")
    assert parts is not None
    return (parts.there(upload) if upload else None) or {}


def numbers(proxy: CountingProxy) -> set[int]:
    """The parts that were sent, as Google or Azure calls them."""
    blocks = [block_of(name) for name in proxy.blocks]
    return {*proxy.sent, *(block.number for block in blocks if block is not None)}


def test_a_list_tells_of_a_file_what_a_request_does_and_those_that_are_gone_keep_no_others(
    cloud_store: CloudStore, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in cloud_store.variables(cloud_store.port).items():
        monkeypatch.setenv(name, value)
    store = ObjectStore(parse(bucket))
    store.write("here", 1, [b"1"])
    assert list(store.list("")) == [store.stat("here")]
    store.delete([*(f"gone-{number}" for number in range(30)), "here"])
    assert store.stat("here") is None


def test_what_is_not_there_is_one_error(
    cloud_store: CloudStore, bucket: str, user: Installation, tmp_path: Path
) -> None:
    process = user.start("data", "copy", f"{bucket}/nothing", str(tmp_path / "out"))
    output, _ = process.communicate()
    assert process.returncode == 3, output
    assert output.startswith(f"error: there is nothing at {bucket}/nothing")
    assert len(output.splitlines()) == 2
