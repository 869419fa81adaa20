"""A cluster of `trainway launch` whose spot machine is taken: its job saves, and says why."""

from pathlib import Path

import pytest
from installation import Installation, kill
from moto_cloud import REGION, MotoCloud
from patience import until

pytestmark = pytest.mark.xdist_group("ssh")
PRICE = "0.04"
PROGRAM = """\
trap 'sleep 1; echo step 7 >"$TRAINWAY_OUTPUT_DIR/saved"; exit 1' TERM
while :; do sleep 0.1; done
"""


def test_a_notice_has_the_jobs_of_a_cluster_save_and_end(
    user: Installation, paired_cloud: MotoCloud, tmp_path: Path
) -> None:
    task = tmp_path / "task.yaml"
    lines = "".join(f"  {line}\n" for line in PROGRAM.splitlines())
    task.write_text(f"resources: {{infra: aws, cpus: 2, use_spot: true}}\nrun: |\n{lines}")
    user.run("launch", "-y", "-d", "-c", "dev", "--name", "saver", str(task))
    until(lambda: user.phase("saver") == "Running", "it does not run")
    (machine,) = paired_cloud.living()
    paired_cloud.warn(machine["id"])
    until(lambda: user.phase("saver") != "Running", "the notice is not heard")
    kill(user.server_pid())  # while the job writes what it has
    assert "UP (interrupted)" in user.run("status")
    until(lambda: user.phase("saver") == "Failed", "it does not end")

    status = user.job("saver")["status"]
    assert status["reason"] == "Preempted"
    assert f"aws takes back {machine['id']}" in status["message"]
    assert "Preempted" in user.run("jobs", "events", "saver")
    assert Path(status["outputDir"], "saved").read_text() == "step 7\n"

    paired_cloud.take(machine["id"])
    until(lambda: cluster(user)["phase"] == "STOPPED", "it is still there")
    assert f"aws takes back {machine['id']}" in str(cluster(user)["message"])
    assert paired_cloud.living() == []
    report = user.json("cost-report")
    cost = float(paired_cloud.cost({f"{REGION}a": PRICE}))
    assert report["total"]["cost"] == pytest.approx(cost, abs=1e-6)

    user.run("start", "dev", "-y")
    until(lambda: cluster(user)["phase"] == "UP", "it does not start")
    assert "again" in user.run("exec", "dev", "--", "echo", "again")
    (other,) = paired_cloud.living()
    assert other["zone"] == f"{REGION}b", "the zone that was taken is avoided"


def cluster(user: Installation) -> dict[str, object]:
    """What is known of the only cluster."""
    (found,) = user.json("status")["items"]
    return dict(found["status"])
