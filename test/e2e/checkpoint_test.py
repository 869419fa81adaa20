"""Checkpoints in a real S3: mirrored while a job runs, and where the next one begins."""

import itertools
import json
import os
import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from data_s3_test import SENT_PART, stored_parts
from installation import Installation, installed, is_alive, kill
from s3_server import CountingProxy, S3Server
from slurm_site import ON as ON_SLURM
from slurm_site import SlurmSite
from ssh_pool import ON, SshPool, until

pytestmark = pytest.mark.engine

NUMBERS = itertools.count()
MANIFEST = ".trainway-manifest.json"
TRAIN = """
import json, os, pathlib, sys, time
output = pathlib.Path(os.environ["TRAINWAY_OUTPUT_DIR"])
last = max((int(path.name) for path in output.glob("epochs/*")), default=0)
print("begins after epoch", last, flush=True)
for epoch in range(last + 1, int(sys.argv[1]) + 1):
    partial = output / f"epoch-{epoch}.partial"
    partial.mkdir()
    for name in ("model", "optimizer"):
        (partial / name).write_text(json.dumps({"epoch": epoch}))
    (output / "epochs").mkdir(exist_ok=True)
    partial.rename(output / "epochs" / str(epoch))
print("trained until", sys.argv[1], flush=True)
while len(sys.argv) > 2 and not os.path.exists(sys.argv[2]):
    time.sleep(0.1)
"""


@pytest.fixture
def bucket(s3_server: S3Server) -> Path:
    return s3_server.bucket(f"checkpoints-{os.getpid()}-{next(NUMBERS)}")


@pytest.fixture
def place(s3_server: S3Server, tmp_path: Path) -> Iterator[Callable[[str], Installation]]:
    """Servers of their own, which have nothing in common but the bucket."""
    opened = []

    def make(name: str) -> Installation:
        context = installed(tmp_path / name, s3_server.variables())
        opened.append(context)
        return context.__enter__()

    yield make
    for context in opened:
        context.__exit__(None, None, None)


def manifest(bucket: Path) -> list[str]:
    try:
        told = json.loads((bucket / "run" / MANIFEST).read_text())
    except (OSError, ValueError):
        return []
    return list(told["files"])


def epochs(count: int) -> list[str]:
    names = ("model", "optimizer")
    return sorted(f"epochs/{epoch}/{name}" for epoch in range(1, count + 1) for name in names)


@pytest.mark.xdist_group("s3")
def test_a_job_begins_where_another_server_left_off(
    place: Callable[[str], Installation], bucket: Path, tmp_path: Path
) -> None:
    script = tmp_path / "train.py"
    script.write_text(TRAIN)
    words = (str(script), "--checkpoint", f"s3://{bucket.name}/run")
    first = place("first")
    job = first.submit(*words, "3", str(tmp_path / "never"))
    until(lambda: manifest(bucket) == epochs(3), "three epochs are not mirrored")
    assert first.json("jobs", "show", job)["status"]["phase"] == "Running"
    kill(int(first.json("server", "status")["pid"]))
    first.run("jobs", "cancel", job)

    second = place("second")
    printed = second.run("run", *words, "5")
    assert "begins after epoch 3" in printed
    until(lambda: manifest(bucket) == epochs(5), "five epochs are not mirrored")
    for name in epochs(5):
        assert json.loads((bucket / "run" / name).read_text())["epoch"] == int(name.split("/")[1])
    shown = second.run("jobs", "show", "train")
    assert f"it begins from s3://{bucket.name}/run: 6 files" in shown


LARGE = """
import os, pathlib, random
path = pathlib.Path(os.environ["TRAINWAY_OUTPUT_DIR"], "model")
path.write_bytes(random.Random(7).randbytes(SIZE))
"""


@pytest.mark.xdist_group("s3")
def test_a_server_that_is_killed_sends_only_missing_parts_of_a_file(
    s3_server: S3Server, bucket: Path, tmp_path: Path
) -> None:
    script, size = tmp_path / "train.py", 8 * SENT_PART + 5
    script.write_text(LARGE.replace("SIZE", str(size)))
    with CountingProxy(s3_server.port).opened() as proxy:
        variables = {
            **s3_server.variables(proxy.port), "XDG_CACHE_HOME": str(tmp_path / "cache"),
        }  # fmt: skip
        with installed(tmp_path / "home", variables) as user:
            pid, once = user.server_pid(), threading.Lock()

            def end(taken: int) -> None:
                if taken > 5 * SENT_PART and once.acquire(blocking=False):
                    kill(pid)

            proxy.on_taken = end
            user.submit(str(script), "--checkpoint", f"s3://{bucket.name}/run")
            until(lambda: once.locked() and not is_alive(pid), "the file is not mirrored")
            until(lambda: proxy.ways == 0, "what was on its way does not arrive")
            here, before = stored_parts(bucket), proxy.taken
            proxy.sent.clear()
            assert user.server_pid() != pid
            until(lambda: manifest(bucket) == ["model"], "the next server does not mirror it")
    assert here
    assert here.isdisjoint(proxy.sent), "a part that was there is sent again"
    assert proxy.taken - before < size - (len(here) - 1) * SENT_PART
    content = random.Random(7).randbytes(size)  # noqa: S311 - what the job wrote
    assert (bucket / "run" / "model").read_bytes() == content
    assert not stored_parts(bucket)


OWN = """
import os, pathlib
output = pathlib.Path(os.environ["TRAINWAY_OUTPUT_DIR"])
before = " ".join(sorted(path.name for path in output.iterdir()))
(output / "before").write_text(before)
rank = os.environ["TRAINWAY_JOB_RANK"]
(output / rank).touch()
"""


def has_begun_with(own: Path, said: str) -> None:
    """Wait until the last job of a folder has told what it found there."""
    until((own / MANIFEST).exists, "a manifest is missing")
    until(lambda: (own / "before").read_text() == said, "it began with something else")


@pytest.mark.xdist_group("s3")
def test_each_job_of_a_run_has_a_folder_of_its_own(
    place: Callable[[str], Installation], bucket: Path, tmp_path: Path
) -> None:
    script, user = tmp_path / "own.py", place("user")
    script.write_text(OWN)
    words = (str(script), "--num-jobs", "2", "--checkpoint", f"s3://{bucket.name}/run")
    for before in ("", "{rank} before"):
        user.run("run", *words)
        for rank in ("0", "1"):
            has_begun_with(bucket / f"run/own-{rank}", before.format(rank=rank))
    assert not (bucket / "run" / MANIFEST).exists()


@pytest.mark.xdist_group("s3")
def test_what_cannot_be_read_is_the_reason(
    place: Callable[[str], Installation], bucket: Path, tmp_path: Path
) -> None:
    user = place("user")
    (bucket / "run").mkdir()
    (bucket / "run" / MANIFEST).write_text('{"version": 1, "files": ["../../out"]}')
    job = user.submit("--checkpoint", f"s3://{bucket.name}/run", "--", "true")
    user.run("jobs", "wait", job, code=4)
    status = user.json("jobs", "show", job)["status"]
    assert f"its checkpoint s3://{bucket.name}/run" in status["message"]
    assert "is not a manifest of checkpoints" in status["message"]


@pytest.mark.xdist_group("ssh")
def test_hosts_begin_from_a_bucket_too(
    ssh_pool: SshPool, s3_server: S3Server, bucket: Path, tmp_path: Path
) -> None:
    check_elsewhere(ssh_pool, ON, s3_server, bucket, tmp_path)


@pytest.mark.xdist_group("slurm")
def test_nodes_of_slurm_begin_from_a_bucket_too(
    slurm_site: SlurmSite, s3_server: S3Server, bucket: Path, tmp_path: Path
) -> None:
    check_elsewhere(slurm_site, ON_SLURM, s3_server, bucket, tmp_path)


def check_elsewhere(
    place: Installation, on: str, s3_server: S3Server, bucket: Path, tmp_path: Path
) -> None:
    """A job of a new server begins there from what is listed, and what it writes is mirrored."""
    (bucket / "run" / "epochs" / "2").mkdir(parents=True)
    for name in ("model", "optimizer"):
        (bucket / "run" / "epochs" / "2" / name).write_text('{"epoch": 2}')
    (bucket / "run" / "half").write_text("not listed")
    files = [f"epochs/2/{name}" for name in ("model", "optimizer")]
    (bucket / "run" / MANIFEST).write_text(json.dumps({"version": 1, "files": files}))
    script = tmp_path / "train.py"
    script.write_text(TRAIN)
    variables = {**place.variables, **s3_server.variables()}
    with installed(tmp_path / "home", variables) as user:
        user.home.mkdir(mode=0o700, exist_ok=True)
        (user.home / "config.yaml").write_text((place.home / "config.yaml").read_text())
        words = ("--on", on, "--checkpoint", f"s3://{bucket.name}/run")
        printed = user.run("run", str(script), *words, "4")
        assert "begins after epoch 2" in printed
        wanted = {*files, *epochs(4)[-4:]}
        until(lambda: set(manifest(bucket)) == wanted, "four epochs are not mirrored")
    assert (bucket / "run" / "half").exists()
