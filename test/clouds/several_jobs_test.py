"""Pipelines and job groups on AWS: each task has machines for as long as it needs them."""

from pathlib import Path

import pytest
from installation import Installation
from moto_cloud import MotoCloud
from patience import until

pytestmark = pytest.mark.xdist_group("ssh")
PIPELINE = """\
name: squares
---
name: prepare
resources: {cpus: 2}
run: echo 1 4 9 >"$TRAINWAY_OUTPUT_DIR/numbers"
---
name: train
num_nodes: 2
resources: {cpus: 2}
setup: echo the setup of train
run: echo "rank $SKYPILOT_NODE_RANK reads $(cat ${tasks.prepare.output}/numbers)"
"""
GROUP = """\
name: rl
execution: parallel
primary_tasks: [trainer]
---
name: trainer
resources: {cpus: 2}
setup: echo trainer >made
run: |
  test "$(cat made)" = trainer
  until exec 3<>"/dev/tcp/$TRAINWAY_ADDRESSES_REPLAY/7321"; do sleep 0.2; done 2>/dev/null
  read -r line <&3
  echo "the replay says $line"
---
name: replay
setup: echo replay >made
run: |
  exec python3 -c "
  import socket
  listening = socket.create_server(('', 7321))
  while True:
      listening.accept()[0].sendall(open('made').read().encode())
  "
"""


def test_tasks_of_a_pipeline_have_machines_of_their_own(
    user: Installation, paired_cloud: MotoCloud, tmp_path: Path
) -> None:
    file = tmp_path / "pipeline.yaml"
    file.write_text(PIPELINE)
    said = user.run("run", "--on", "aws", str(file))
    for rank in range(2):
        assert f"rank {rank} reads 1 4 9" in said
    assert len(paired_cloud.instances()) == 3, "one for the first task, and two for the second"
    assert user.json("runs", "show", "squares")["status"]["phase"] == "Succeeded"
    until(lambda: paired_cloud.living() == [], "machines are left")
    until(lambda: user.json("jobs", "pool", "status")["items"] == [], "pools are left")


def test_tasks_of_a_job_group_reach_each_other(
    user: Installation, paired_cloud: MotoCloud, tmp_path: Path
) -> None:
    file = tmp_path / "group.yaml"
    file.write_text(GROUP)
    assert "the replay says replay" in user.run("run", "--on", "aws", str(file))
    assert len(paired_cloud.instances()) == 2
    until(lambda: paired_cloud.living() == [], "machines are left")
