"""Buckets of tasks for real: versitygw, rclone and FUSE, on this machine."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from environments import REPOSITORY
from installation import TRAINWAY, Installation, installed
from patience import until
from s3_server import SECRET, S3Server
from storage_scenario import check_stored, stored_task

pytestmark = pytest.mark.xdist_group("storage")


@pytest.fixture(scope="module")
def here(s3_server: S3Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("storage")
    (folder / "own").mkdir()
    variables = {**s3_server.variables(), "HOME": str(folder / "own")}
    with installed(folder / "home", variables) as installation:
        yield installation


def refused(here: Installation, task: Path, text: str, **variables: str) -> str:
    task.write_text(text)
    done = subprocess.run(
        [TRAINWAY, "run", str(task)], cwd=REPOSITORY, env={**here.environ(), **variables},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    return done.stderr


def test_copies_mounts_and_a_new_bucket(
    here: Installation, s3_server: S3Server, tmp_path: Path
) -> None:
    task = stored_task(s3_server, "all-of-it", tmp_path, str(tmp_path / "place"))
    dry = here.run("run", "--dry-run", task)
    assert not (s3_server.folder / "all-of-it-new").exists(), "a dry run makes no bucket"

    printed = here.run("run", task)
    check_stored(s3_server, "all-of-it", printed)
    shown = here.run("jobs", "show", "stored", "-o", "yaml")
    assert SECRET not in dry + shown + printed
    home = Path(here.variables["HOME"])
    assert not list((home / ".cache/trainway/mounts").iterdir()), "a cache was left"
    assert str(tmp_path) not in Path("/proc/mounts").read_text()


def test_what_was_written_before_a_kill_is_there_after_the_restart(
    here: Installation, s3_server: S3Server, tmp_path: Path
) -> None:
    bucket, mark = s3_server.bucket("killed-once"), tmp_path / "first"
    task = tmp_path / "killed.yaml"
    task.write_text(
        "resources: {job_recovery: {max_restarts_on_errors: 1}}\n"
        f"file_mounts: {{{tmp_path}/m: {{source: s3://killed-once, mode: MOUNT_CACHED}}}}\n"
        f"run: |\n  [ -e {mark} ] && exit 0\n"
        f"  echo precious > {tmp_path}/m/precious; touch {mark}\n"
        "  kill -9 -- -$(ps -o pgid= -p $$ | tr -d ' ')\n"
    )
    here.run("run", str(task))
    assert (bucket / "precious").read_text() == "precious\n"


def test_what_cannot_be_brought_is_refused_before_anything_is_made(
    here: Installation, s3_server: S3Server, tmp_path: Path
) -> None:
    task = tmp_path / "task.yaml"
    hub = refused(here, task, "file_mounts: {/x: {source: hf://a/b}}\nrun: x\n")
    assert "file_mounts[/x]: the hub cannot be mounted; set mode: COPY" in hub
    name = refused(here, task, "file_mounts: {/x: {name: Big}}\nrun: x\n")
    assert "file_mounts[/x]: name: 'Big' cannot be the name of a bucket" in name
    wrong = refused(
        here,
        task,
        f"file_mounts: {{{tmp_path}/x: {{name: not-mine, source: {tmp_path}}}}}\nrun: x\n",
        AWS_SECRET_ACCESS_KEY="wrong-wrong-wrong",  # noqa: S106 - of nobody
    )
    assert "s3://not-mine: your credentials do not allow" in wrong
    assert "wrong-wrong" not in wrong
    assert not (s3_server.folder / "not-mine").exists()


def test_buckets_are_listed_and_removed(
    here: Installation, s3_server: S3Server, tmp_path: Path
) -> None:
    s3_server.bucket("was-there")
    task = tmp_path / "three.yaml"
    mounts = {
        "a": "{name: goes-with-it, persistent: false}",
        "b": "{name: stays-here}",
        "c": "{name: was-there, persistent: false}",
    }
    lines = [f"  {tmp_path}/{path}: {said}\n" for path, said in mounts.items()]
    task.write_text(f"file_mounts:\n{''.join(lines)}run: echo 1 > {tmp_path}/a/1\n")
    here.run("run", str(task))
    until(lambda: not (s3_server.folder / "goes-with-it").exists(), "the bucket stays")
    until(lambda: "goes-with-it" not in listed(here), "it is still listed")
    assert {"stays-here", "was-there"} <= set(listed(here))
    said = here.run("storage", "delete", "stays-here", "was-there", "-y")
    assert "s3://stays-here deleted\n" in said
    assert "s3://was-there is no longer listed; it was there before its job, and stays\n" in said
    assert not (s3_server.folder / "stays-here").exists()
    assert (s3_server.folder / "was-there").exists()


def listed(here: Installation) -> list[str]:
    """The names of all buckets that tasks have named."""
    return here.run("storage", "ls", "-o", "name").splitlines()
