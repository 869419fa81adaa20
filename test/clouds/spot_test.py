"""Spot machines of AWS: after a notice a job goes on elsewhere from what it has written."""

from pathlib import Path

import pytest
from installation import Installation, kill
from moto_cloud import REGION, MotoCloud
from patience import until

pytestmark = pytest.mark.xdist_group("ssh")
PROGRAM = """\
saved="$TRAINWAY_OUTPUT_DIR/saved"
if [ -e "$saved" ]; then
  echo "attempt $TRAINWAY_RESTART_ATTEMPT begins at $(cat "$saved")"
  exit 0
fi
echo attempt "$TRAINWAY_RESTART_ATTEMPT" works
trap 'sleep 1; echo step 7 >"$saved.new"; mv "$saved.new" "$saved"; exit 0' TERM
while :; do sleep 0.1; done
"""


def test_a_notice_has_a_job_go_on_elsewhere_from_what_it_has_saved(
    user: Installation, paired_cloud: MotoCloud, tmp_path: Path
) -> None:
    task = tmp_path / "task.yaml"
    lines = "".join(f"  {line}\n" for line in PROGRAM.splitlines())
    task.write_text(f"resources: {{cpus: 2}}\nrun: |\n{lines}")
    in_time = ("--deadline", "10h", "--work", "1h")
    job = user.submit("--on", "aws", "--use-spot", *in_time, "--name", "spot", str(task))
    until(lambda: user.phase(job) == "Running", "it does not run")
    (machine,) = paired_cloud.living()
    assert machine["zone"] == f"{REGION}a"
    paired_cloud.warn(machine["id"])
    until(lambda: user.phase(job) != "Running", "the notice is not heard")
    kill(user.server_pid())  # while the job writes what it has
    until(lambda: user.phase(job) == "Succeeded", "it does not go on")

    assert "attempt 1 begins at step 7" in user.run("jobs", "logs", job)
    whole = user.run("jobs", "logs", "--all-attempts", job)
    assert "attempt 0 works" in whole, "the logs of machines that are gone are kept"
    status = user.job(job)["status"]
    (ended,) = status["endedAttempts"]
    assert (ended["reason"], ended["counts"]) == ("Preempted", False)
    assert f"aws takes back {machine['id']}" in ended["cause"]
    spot, sure = status["recovery"]["places"]
    assert sure == f"{spot}-sure"
    until(lambda: paired_cloud.living() == [], "machines are left")
    until(lambda: user.json("jobs", "pool", "status")["items"] == [], "its pools are left")
    other = next(each for each in paired_cloud.instances() if each["id"] != machine["id"])
    assert other["zone"] == f"{REGION}b", "the zone that was taken is avoided"
