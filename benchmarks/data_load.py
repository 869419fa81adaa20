"""What a copy from S3 costs, beside `rclone copy` and `aws s3 cp`.

One object of random bytes is copied from a versitygw on loopback to a folder, by each program in
turn, three times; the best time of each counts. All are left as they come, but that rclone is told
its endpoint. Trainway waits until the file is on the disk; the others leave that to the system.
"""

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from _pytest.outcomes import Skipped
from installation import TRAINWAY
from s3_server import S3Server, running

from benchmarks.suite import Row

USUAL_GIGABYTES: Final = 5.0
ROUNDS: Final = 3
MOST_TIMES: Final = 1 / 0.9
BLOCK: Final = 1 << 24
OURS: Final = "trainway data copy"


def main(arguments: list[str]) -> int:
    """Print the figures; 1 if a limit was missed, 2 if nothing could be measured."""
    gigabytes = float(arguments[0]) if arguments else USUAL_GIGABYTES
    kept = True
    try:
        with tempfile.TemporaryDirectory(prefix="data-") as folder, running(Path(folder)) as server:
            for row in rows(server, Path(folder), int(gigabytes * 1e9)):
                print(row, flush=True)
                kept = kept and row.is_kept
    except Skipped as error:
        print(f"cannot be measured: {error}")
        return 2
    return 0 if kept else 1


def rows(server: S3Server, folder: Path, size: int) -> Iterator[Row]:
    """The times of all programs, and what a second job of the host fetches."""
    server.bucket("bench")
    target = folder / "target"
    variables = {**os.environ, **server.variables(), "TRAINWAY_DATA_CACHE": str(folder / "cache")}
    variables.pop("AWS_CA_BUNDLE", None)  # rclone cannot be given one
    fill(folder / "big", size)
    subprocess.run(
        [str(TRAINWAY), "data", "copy", str(folder / "big"), "s3://bench/big"],
        env=variables,
        check=True,
        capture_output=True,
    )
    (folder / "big").unlink()
    programs = commands(server, target)
    best = dict.fromkeys(programs, float("inf"))
    for _ in range(ROUNDS):
        for name, command in programs.items():
            best[name] = min(best[name], seconds(command, variables, target))
    for name, took in best.items():
        yield Row(f"{name}, {size / 1e9:g} GB", took, "s", beside=f"{size / took / 1e6:.0f} MB/s")
    others = [took for name, took in best.items() if name != OURS]
    if others:
        yield Row(
            "times that the fastest of the others takes", best[OURS] / min(others), "x", MOST_TIMES
        )
    yield Row("bytes that a second cached copy fetches", second(variables, target), "B", 0)


def fill(path: Path, size: int) -> None:
    """Write random bytes."""
    with path.open("wb") as file:
        while (left := size - file.tell()) > 0:
            file.write(os.urandom(min(BLOCK, left)))


def commands(server: S3Server, target: Path) -> dict[str, list[str]]:
    """What is compared, as far as it is here."""
    found = {OURS: [str(TRAINWAY), "data", "copy", "s3://bench/big", f"{target}/"]}
    if rclone := shutil.which("rclone"):
        endpoint = server.variables()["AWS_ENDPOINT_URL"]
        remote = f":s3,provider=Other,env_auth=true,endpoint='{endpoint}':bench/big"
        found["rclone copy"] = [rclone, "copy", remote, str(target)]
    if aws := shutil.which("aws"):
        found["aws s3 cp"] = [aws, "s3", "cp", "--quiet", "s3://bench/big", f"{target}/big"]
    return found


def seconds(command: list[str], variables: Mapping[str, str], target: Path) -> float:
    """How long a copy into an empty folder takes."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    os.sync()  # what others wrote is not on our account
    began = time.monotonic()
    subprocess.run(command, env=variables, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


def second(variables: Mapping[str, str], target: Path) -> float:
    """The bytes that a copy fetches after another one has filled the cache."""
    shutil.rmtree(target)
    command = [str(TRAINWAY), "data", "copy", "--cached", "-o", "json", "s3://bench/big"]
    for name in ("first", "second"):
        done = subprocess.run(
            [*command, f"{target}/{name}/"], env=variables, check=True, capture_output=True
        )
        shutil.rmtree(target)
    return float(json.loads(done.stdout)["transferredBytes"])
