"""A spot machine that hears from its own metadata service that it is taken."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from installation import Installation, kill
from moto_cloud import MotoCloud
from patience import until
from renting_user import renting_user

from ssh_hosts import SshHosts
from trainway.agent.host.metadata_testing import ACTION, MetadataService

pytestmark = pytest.mark.xdist_group("ssh")
PROGRAM = """\
saved="$TRAINWAY_OUTPUT_DIR/saved"
if [ -e "$saved" ]; then
  echo "attempt $TRAINWAY_RESTART_ATTEMPT begins at $(cat "$saved")"
  exit 0
fi
trap 'echo step 7 >"$saved.new"; mv "$saved.new" "$saved"; exit 0' TERM
while :; do sleep 0.1; done
"""


@pytest.fixture
def service(ssh_hosts: SshHosts) -> Iterator[MetadataService]:
    """Where the machines ask."""
    with MetadataService().running(ssh_hosts.network.address(1)) as made:
        yield made


@pytest.fixture
def user(
    paired_cloud: MotoCloud, tmp_path: Path, service: MetadataService
) -> Iterator[Installation]:
    """Somebody whose machines ask the service of the test."""
    settings = {"metadata_address": service.address}
    with renting_user(paired_cloud, tmp_path, settings=settings) as made:
        yield made


def test_a_machine_that_is_told_itself_has_its_job_go_on_elsewhere(
    user: Installation, paired_cloud: MotoCloud, service: MetadataService, tmp_path: Path
) -> None:
    task = tmp_path / "task.yaml"
    lines = "".join(f"  {line}\n" for line in PROGRAM.splitlines())
    task.write_text(f"resources: {{cpus: 2}}\nrun: |\n{lines}")
    job = user.submit("--on", "aws", "--use-spot", "--name", "spot", str(task))
    until(lambda: user.phase(job) == "Running", "it does not run")
    (machine,) = paired_cloud.living()
    until(lambda: ACTION in service.asked, "the machine does not ask")

    kill(user.server_pid())  # nobody is there to hear it at first
    service.to = str(machine["address"])
    service.says[ACTION] = '{"action": "terminate", "time": "2099-01-01T00:00:00Z"}'
    told = service.asked.count(ACTION)
    until(lambda: service.asked.count(ACTION) > told, "the machine does not ask again")
    until(lambda: user.phase(job) == "Succeeded", "it does not go on")

    assert "attempt 1 begins at step 7" in user.run("jobs", "logs", job)
    (ended,) = user.job(job)["status"]["endedAttempts"]
    assert (ended["reason"], ended["counts"]) == ("Preempted", False)
    assert f"aws takes back {machine['id']}" in ended["cause"]
    assert "instance-action terminate" in ended["cause"]
    until(lambda: paired_cloud.living() == [], "machines are left")
