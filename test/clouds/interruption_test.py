"""A gang of which a spot machine is taken goes on elsewhere, and all that it cost is counted."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from installation import Installation
from moto_cloud import REGION, MotoCloud
from patience import until
from renting_user import renting_user

pytestmark = pytest.mark.xdist_group("ssh")
NODES = 4
PRICES = {f"{REGION}a": "41.3", f"{REGION}b": "52.7"}
"""So high that each second of a machine is a cent and more."""
TASK = """
num_nodes: {nodes}
resources: {{infra: aws, cpus: 2, use_spot: true}}
run: {python} {program} {folder}
"""


@pytest.fixture
def user(paired_cloud: MotoCloud, tmp_path: Path) -> Iterator[Installation]:
    """Somebody with credentials for AWS, and a catalog with one dear type in two zones."""
    prices = {zone: ("96.5", spot) for zone, spot in PRICES.items()}
    with renting_user(paired_cloud, tmp_path, prices) as made:
        yield made


def test_a_gang_goes_on_elsewhere_from_its_checkpoint_and_costs_what_its_machines_do(
    user: Installation, paired_cloud: MotoCloud, tmp_path: Path
) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    program = Path(__file__).with_name("summing_rank.py")
    task = tmp_path / "task.yaml"
    task.write_text(TASK.format(nodes=NODES, python=sys.executable, program=program, folder=folder))
    job = user.submit("--on", "aws", "--name", "gang", str(task))

    until(lambda: step(folder) >= 3, "it does not train")
    first = {each["id"] for each in paired_cloud.living()}
    assert len(first) == NODES
    taken_at = step(folder)
    taken = sorted(first)[1]
    paired_cloud.take(taken)
    until(lambda: not first & {each["id"] for each in paired_cloud.living()}, "nothing is left")
    until(lambda: len(paired_cloud.living()) == NODES, "there are no other machines")
    reached = step(folder)
    until(lambda: step(folder) > reached + 2, "it does not go on")
    (folder / "enough").touch()
    user.run("jobs", "wait", job)
    until(lambda: paired_cloud.living() == [], "machines are left")

    said, newest = (user.run("jobs", "logs", job, *every) for every in (["--all-attempts"], []))
    (attempt,) = user.job(job)["status"]["endedAttempts"]
    assert (attempt["reason"], attempt["counts"]) == ("Preempted", False)
    assert f"aws takes back {taken}" in attempt["cause"]
    assert reached >= taken_at
    assert said.count(f"begins at step 0 with {NODES} ranks") == NODES, "the first logs are gone"
    assert newest.count(f"begins at step {reached} with {NODES} ranks") == NODES
    assert said.count("begins at step ") == 2 * NODES, "it began on what was left"
    last = step(folder)
    assert newest.count(f"ends at step {last} with the sum {last * 10}") == NODES
    zones = [each["zone"] for each in paired_cloud.instances()]
    assert sorted(zones) == [f"{REGION}a"] * NODES + [f"{REGION}b"] * NODES, "it is not avoided"

    until(lambda: user.json("jobs", "pool", "status")["items"] == [], "its pool is left")
    report = user.json("cost-report")
    assert f"{report['total']['cost']:.2f}" == f"{paired_cloud.cost(PRICES):.2f}"


def step(folder: Path) -> int:
    try:
        return int(json.loads((folder / "checkpoint.json").read_text())["step"])
    except OSError:
        return 0
