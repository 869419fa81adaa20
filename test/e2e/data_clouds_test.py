"""`trainway data` with Google's and Azure's stores, as far as their emulators go."""

import itertools
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from cloud_stores import CloudStore
from data_s3_test import COPY, PART, recorded
from installation import Installation
from s3_server import CountingProxy

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
    files = {"a.json": b"{}", "d/e f/ü.bin": CONTENT}
    if cloud_store.has_parts:
        files["large"] = LARGE
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
