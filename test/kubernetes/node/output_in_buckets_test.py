"""What pods write goes into a bucket, at the end and while they run, though pods take it along."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from cluster.access import Access
from cluster.processes import wait_until
from installation import Installation, installed, kill
from s3_server import S3Server, s3_server

__all__ = ["s3_server"]

PATIENCE_S: Final = 180.0


@pytest.fixture(scope="module")
def home(
    node_cluster: Access, s3_server: S3Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installation]:
    variables = {"KUBECONFIG": str(node_cluster.kubeconfig), **s3_server.variables()}
    with installed(tmp_path_factory.mktemp("home"), variables) as installation:
        yield installation


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


WRITES: Final = """
import os, pathlib

output = pathlib.Path(os.environ["TRAINWAY_OUTPUT_DIR"])
rank = os.environ["JOB_COMPLETION_INDEX"]
(output / "parts").mkdir(exist_ok=True)
(output / "parts" / rank).write_bytes(rank.encode() * 3_000_000)
print("written", flush=True)
"""


def test_what_pods_have_written_is_exported_also_by_the_next_server(
    home: Installation, on: str, s3_server: S3Server, tmp_path: Path
) -> None:
    bucket = s3_server.bucket("exported")
    script = tmp_path / "writes.py"
    script.write_text(WRITES)

    job = home.submit(str(script), "--on", on, "--nodes", "2", "--export", "s3://exported/run")
    assert wait_until(lambda: "written" in home.run("jobs", "logs", job), PATIENCE_S)
    kill(home.server_pid())
    home.run("jobs", "wait", job)

    assert wait_until(lambda: home.look(job)["status"]["export"]["state"] == "Done", PATIENCE_S)
    assert names(bucket / "run") == ["parts/0", "parts/1"]
    assert (bucket / "run" / "parts" / "1").read_bytes() == b"1" * 3_000_000
    assert sorted(home.run("jobs", "logs", job).splitlines()) == [
        "node-0 | written",
        "node-1 | written",
    ]


STEPS: Final = """
import os, pathlib, signal, sys, time

signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
output = pathlib.Path(os.environ["TRAINWAY_OUTPUT_DIR"])
done = max((int(path.name) for path in output.glob("epochs/*")), default=0)
print("begins with", done, flush=True)
(output / "epochs").mkdir(exist_ok=True)
if done < 2:
    (output / "partial").write_text(str(done + 1))
    (output / "partial").rename(output / "epochs" / str(done + 1))
if done == 1:
    sys.exit(3)
while done < 2:
    time.sleep(0.1)
"""


def test_a_job_begins_where_another_one_was_in_another_cluster(
    home: Installation, on: str, s3_server: S3Server, tmp_path: Path
) -> None:
    bucket = s3_server.bucket("mirrored")
    script = tmp_path / "steps.py"
    script.write_text(STEPS)
    words = (str(script), "--on", on, "--checkpoint", "s3://mirrored/run", "--restarts", "1")

    first = home.submit(*words, "--name", "first")
    manifest = bucket / "run" / ".trainway-manifest.json"
    assert wait_until(manifest.exists, PATIENCE_S)
    home.run("jobs", "cancel", first)
    printed = home.run("run", *words, "--name", "second")

    assert names(bucket / "run" / "epochs") == ["1", "2"]
    assert printed.splitlines()[-1] == "node-0 | begins with 2"
    shown = home.run("jobs", "logs", "second", "--all-attempts")
    assert [line.rpartition(" ")[2] for line in shown.splitlines()] == ["1", "2"]
