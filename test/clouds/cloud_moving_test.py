"""A job that has started moves to AWS and back, with what it has written."""

from pathlib import Path

import pytest
from installation import Installation
from moto_cloud import MotoCloud
from patience import until

pytestmark = pytest.mark.xdist_group("ssh")
PROGRAM = """\
import os, pathlib, signal, sys, time
saved = pathlib.Path(os.environ["TRAINWAY_OUTPUT_DIR"], "steps")
steps = saved.read_text().split() if saved.exists() else []
print("begins after", *steps, flush=True)
if len(steps) == 2:
    sys.exit(0)
def save(*_):
    saved.write_text(" ".join([*steps, str(len(steps))]))
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
print("runs", flush=True)
while True:
    time.sleep(0.1)
"""


def test_a_job_that_has_started_goes_on_at_a_cloud_and_comes_back(
    user: Installation, paired_cloud: MotoCloud, tmp_path: Path
) -> None:
    script = tmp_path / "train.py"
    script.write_text(PROGRAM)

    def runs(times: int) -> bool:
        return user.run("jobs", "logs", job).count("runs") == times

    job = user.submit("--name", "train", "--cpus", "1", str(script))
    until(lambda: runs(1), "it does not run here")
    user.run("jobs", "move", job, "--on", "aws")
    until(lambda: runs(2), "it does not run on aws")
    assert len(paired_cloud.living()) == 1
    assert user.job(job)["spec"]["backend"].startswith("worker-pool/for-")
    user.run("jobs", "move", job, "--on", "local")
    until(lambda: user.phase(job) == "Succeeded", "it does not go on here")

    said = user.run("jobs", "logs", job)
    assert [line for line in said.splitlines() if "begins" in line][-1].endswith("after 0 1")
    assert user.job(job)["status"]["restarts"] == 0
    until(lambda: paired_cloud.living() == [], "machines are left")
    until(lambda: user.json("jobs", "pool", "status")["items"] == [], "its pool is left")
