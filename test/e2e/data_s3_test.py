"""`trainway data` with a real S3: whole files in spite of kills, changes, full disks and links."""

import contextlib
import itertools
import json
import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from installation import TRAINWAY, Installation
from s3_server import SECRET, CountingProxy, S3Server
from small_disk import filled, small_disk

from trainway.data.journal import journal_path, partial_path

pytestmark = pytest.mark.xdist_group("s3")

PART: Final = 1 << 16
SIZE: Final = 256 * PART + 5
WORKERS: Final = 4
COPY: Final = f"""
import sys
from trainway.data.copying import copy
from trainway.data.transfer import Options
from trainway.errors import TrainwayError
try:
    copy(sys.argv[1], sys.argv[2], options=Options(workers={WORKERS}, part_size={PART}))
except TrainwayError as error:
    sys.exit(error.sentence)
"""
SENT_PART: Final = 8 << 20
GIGABYTE: Final = 10**9
NUMBERS: Final = itertools.count()


@pytest.fixture
def bucket(s3_server: S3Server) -> Path:
    return s3_server.bucket(f"bucket-{next(NUMBERS)}")


@pytest.fixture
def proxy(s3_server: S3Server) -> Iterator[CountingProxy]:
    with CountingProxy(s3_server.port).opened() as proxy:
        yield proxy


@pytest.fixture
def user(s3_server: S3Server, tmp_path: Path) -> Installation:
    return Installation(tmp_path / "home", s3_server.variables())


def uri(bucket: Path, key: str = "") -> str:
    return f"s3://{bucket.name}" + (f"/{key}" if key else "")


def content(seed: int) -> bytes:
    return random.Random(seed).randbytes(SIZE)  # noqa: S311 - content of a test


def started(server: S3Server, proxy: CountingProxy, *words: str) -> subprocess.Popen[bytes]:
    """A copy in small parts, as a process of its own."""
    variables = {**os.environ, **server.variables(proxy.port)}
    command = [sys.executable, "-c", COPY, *words]
    return subprocess.Popen(command, env=variables, stderr=subprocess.PIPE)


def ended(process: subprocess.Popen[bytes]) -> int:
    """The exit code of a copy, whose error goes to that of the test."""
    sys.stderr.write(process.communicate()[1].decode())
    return process.returncode


def recorded(target: Path) -> set[int]:
    """Where the parts begin that the journal says are here."""
    journal = journal_path(target)
    lines = journal.read_text().split("\n")[1:-1] if journal.exists() else []
    return {int(line.split()[0]) * PART for line in lines}


@pytest.mark.parametrize(
    "kills", [pytest.param(12), pytest.param(100, marks=pytest.mark.stress)], ids=str
)
def test_a_copy_that_is_killed_fetches_only_what_is_missing(
    kills: int, s3_server: S3Server, bucket: Path, proxy: CountingProxy, tmp_path: Path
) -> None:
    (bucket / "big").write_bytes(content(1))
    target, chance = tmp_path / "big", random.Random(kills)  # noqa: S311 - moments of kills
    killed = 0
    for _ in range(kills):
        here = recorded(target)
        proxy.starts.clear()
        left = SIZE - len(here) * PART
        limit = proxy.given + chance.randrange(max(1, left // (kills // 3)))
        process = started(s3_server, proxy, uri(bucket, "big"), str(target))

        def kill(
            given: int, limit: int = limit, process: subprocess.Popen[bytes] = process
        ) -> None:
            if given >= limit:
                process.kill()

        proxy.on_bytes = kill
        killed += ended(process) != 0
        assert here.isdisjoint(proxy.starts), "a part that was here is fetched again"
        assert target.exists() == (not partial_path(target).exists())
    proxy.on_bytes = lambda _given: None
    here = recorded(target)
    proxy.starts.clear()

    assert ended(started(s3_server, proxy, uri(bucket, "big"), str(target))) == 0

    assert target.read_bytes() == content(1)
    assert sorted(path.name for path in tmp_path.iterdir() if "big" in path.name) == ["big"]
    assert killed >= kills // 2
    assert here.isdisjoint(proxy.starts)
    assert proxy.given < SIZE + killed * (WORKERS * 2 + 1) * PART + kills * PART


@pytest.mark.parametrize(
    "kills", [pytest.param(6), pytest.param(100, marks=pytest.mark.stress)], ids=str
)
def test_an_upload_that_is_killed_sends_only_what_is_missing(
    kills: int, s3_server: S3Server, bucket: Path, proxy: CountingProxy, tmp_path: Path
) -> None:
    large = random.Random(6).randbytes(16 * SENT_PART + 5)  # noqa: S311 - content of a test
    (tmp_path / "large").write_bytes(large)
    variables = {
        **os.environ, **s3_server.variables(proxy.port), "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }  # fmt: skip
    command = [sys.executable, "-c", COPY, str(tmp_path / "large"), uri(bucket, "large")]
    chance, killed, kept = random.Random(kills), 0, 0  # noqa: S311 - moments of kills
    numbers = set(range(1, 18))
    while killed < kills or not (bucket / "large").exists():
        (bucket / "large").unlink(missing_ok=True)
        here, before = stored_parts(bucket), proxy.taken
        proxy.sent.clear()
        limit = before + (chance.randrange(8 * SENT_PART) if killed < kills else 1 << 40)
        with subprocess.Popen(command, env=variables) as process:

            def kill(
                taken: int,
                limit: int = limit,
                process: "subprocess.Popen[bytes]" = process,
            ) -> None:
                if taken >= limit:
                    process.kill()

            proxy.on_taken = kill
        killed += process.returncode != 0
        kept += len(here)
        assert here.isdisjoint(proxy.sent), "a part that was there is sent again"
        missing = len(numbers - here) * SENT_PART
        late = SENT_PART  # what a killed copy had sent may arrive only now
        assert proxy.taken - before < missing + late
        if process.returncode == 0:
            assert (bucket / "large").read_bytes() == large
            assert not stored_parts(bucket)

    assert kept
    assert not list((tmp_path / "cache" / "trainway" / "uploads").iterdir())


def stored_parts(bucket: Path) -> set[int]:
    """The numbers of the parts that versitygw has of uploads that are not whole."""
    found = bucket.glob(".sgwtmp/multipart/*/*/*")
    return {int(path.name) for path in found if path.name.isdigit()}


def test_a_file_that_is_replaced_meanwhile_arrives_in_one_version(
    s3_server: S3Server, bucket: Path, proxy: CountingProxy, user: Installation, tmp_path: Path
) -> None:
    for seed in (1, 2):
        (tmp_path / str(seed)).write_bytes(content(seed))
    user.run("data", "copy", str(tmp_path / "1"), uri(bucket, "big"))
    replaced: list[int] = []
    waiting = threading.Lock()

    def replace(given: int) -> None:
        with waiting:  # no connection gives anything while the file is replaced
            if given > SIZE // 2 and not replaced:
                replaced.append(given)
                user.run("data", "copy", str(tmp_path / "2"), uri(bucket, "big"))

    proxy.on_bytes = replace
    assert ended(started(s3_server, proxy, uri(bucket, "big"), str(tmp_path / "big"))) == 0

    assert replaced
    assert (tmp_path / "big").read_bytes() == content(2)


def test_connections_that_are_cut_cost_nothing_but_time(
    s3_server: S3Server, bucket: Path, proxy: CountingProxy, tmp_path: Path
) -> None:
    (bucket / "big").write_bytes(content(1))
    cuts: list[int] = []

    def cut(given: int) -> None:
        if len(cuts) < 5 and given > (len(cuts) + 1) * SIZE // 8:
            cuts.append(given)
            raise OSError  # which ends the connection

    proxy.on_bytes = cut
    assert ended(started(s3_server, proxy, uri(bucket, "big"), str(tmp_path / "big"))) == 0

    assert len(cuts) == 5
    assert (tmp_path / "big").read_bytes() == content(1)


def test_a_folder_goes_there_and_back_and_nothing_beyond_it_is_removed(
    bucket: Path, user: Installation, tmp_path: Path
) -> None:
    source = tmp_path / "source"
    files = {"a.json": b"{}", "d/e f/ü.bin": content(3), "empty": b""}
    for name, text in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(text)
        os.utime(source / name, (1e9, 1e9))
    (bucket / "running").write_bytes(b"another")

    user.run("data", "copy", str(source), uri(bucket, "run"))
    again = user.json("data", "copy", str(source), uri(bucket, "run"))
    user.run("data", "copy", uri(bucket, "run"), uri(bucket, "copy"))
    user.run("data", "copy", uri(bucket, "copy"), str(tmp_path / "back"))
    listed = user.run("data", "ls", "-r", uri(bucket, "run"), "-o", "name")
    removed = user.json("data", "rm", "-y", uri(bucket, "run"))

    assert again["transferredBytes"] == 0
    assert {name: (tmp_path / "back" / name).read_bytes() for name in files} == files
    assert listed.splitlines() == sorted(files)
    assert removed == {"files": 3, "bytes": sum(map(len, files.values()))}
    assert user.run("data", "ls", uri(bucket), "-o", "name") == "copy/\nrunning\n"


def test_bad_credentials_and_missing_buckets_are_one_line_without_secrets(
    s3_server: S3Server, bucket: Path, tmp_path: Path
) -> None:
    (bucket / "a").write_bytes(b"1")
    good = s3_server.variables()
    for changed, where, said, status in (
        ({"AWS_SECRET_ACCESS_KEY": "other-secret"}, uri(bucket, "a"), "was denied", 1),
        ({"AWS_ACCESS_KEY_ID": "other-access"}, uri(bucket), "was denied", 1),
        ({}, "s3://there-is-none/a", "there is no bucket s3://there-is-none", 3),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, uri(bucket), "cannot be reached", 1),
    ):
        user = Installation(tmp_path / "home", {**good, **changed})
        process = user.start("data", "copy", where, str(tmp_path / "out"))
        output, _ = process.communicate()
        assert process.returncode == status, output
        assert said in output
        assert len(output.splitlines()) == 2
        assert not any(secret in output for secret in ("other-secret", "other-access", SECRET))


def test_a_disk_that_fills_is_one_error_and_the_copy_goes_on_later(
    s3_server: S3Server, bucket: Path, proxy: CountingProxy, user: Installation, tmp_path: Path
) -> None:
    (bucket / "small").write_bytes(content(1)[: 40 * PART])
    (bucket / "large").write_bytes(content(1))
    disk, once = tmp_path / "disk", threading.Lock()
    with small_disk(disk):
        refused = user.start("data", "copy", uri(bucket, "large"), str(disk))
        assert "has room for" in refused.communicate()[0]
        with contextlib.ExitStack() as stack:

            def fill(given: int) -> None:
                if given > 10 * PART and once.acquire(blocking=False):
                    stack.enter_context(filled(disk))

            proxy.on_bytes = fill
            first = started(s3_server, proxy, uri(bucket, "small"), str(disk / "small"))
            assert "is full (make room" in first.communicate()[1].decode()
            here = recorded(disk / "small")
        proxy.starts.clear()

        assert ended(started(s3_server, proxy, uri(bucket, "small"), str(disk / "small"))) == 0

        assert (disk / "small").read_bytes() == content(1)[: 40 * PART]
        assert here
        assert here.isdisjoint(proxy.starts)


MEASURED: Final = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], check=False).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, end="")
sys.exit(status)
"""
"""Runs a command and says how much memory it had at most. The kernel counts what a process had
before it began another program, which is that of its parent: a small one, and not pytest."""


def test_ten_gigabytes_need_little_memory(bucket: Path, user: Installation, tmp_path: Path) -> None:
    with (bucket / "sparse").open("wb") as file:
        file.truncate(10 * GIGABYTE)
        file.seek(7 * GIGABYTE)
        file.write(b"here")

    words = ("data", "copy", uri(bucket, "sparse"), str(tmp_path), "-o", "json")
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(TRAINWAY), *words],
        env=user.environ(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    output, kilobytes = done.stdout.rsplit("\n", 1)
    assert json.loads(output)["bytes"] == 10 * GIGABYTE
    assert int(kilobytes) < 600_000
    with (tmp_path / "sparse").open("rb") as file:
        file.seek(7 * GIGABYTE - 2)
        assert file.read(8) == b"\0\0here\0\0"
    assert (tmp_path / "sparse").stat().st_blocks * 512 < 100_000_000
