"""Pipelines over this machine and SSH hosts: each task in its place, with outputs of others."""

from pathlib import Path

import pytest
from ssh_pool import ON, SshPool

from trainway.jobset.labels import TASK

pytestmark = pytest.mark.xdist_group("ssh")

PIPELINE = f"""\
name: squares
---
name: prepare
run: |
  mkdir "$TRAINWAY_OUTPUT_DIR/deep"
  seq 10 > "$TRAINWAY_OUTPUT_DIR/deep/numbers"
  head -c 3000000 /dev/zero > "$TRAINWAY_OUTPUT_DIR/large"
---
name: train
resources: {{infra: {ON}}}
envs: {{DATA: "${{tasks.prepare.output}}/deep/numbers"}}
run: |
  set -e
  wc -c < "${{tasks.prepare.output}}/large"
  awk '{{s += $1 * $1}} END {{print s}}' "$DATA" > "$TRAINWAY_OUTPUT_DIR/sum"
  uname -n > "$TRAINWAY_OUTPUT_DIR/host"
---
name: check
resources: {{ordered: [{{infra: {ON}}}, {{infra: local}}]}}
run: cat ${{tasks.train.output}}/sum
---
name: report
run: cat ${{tasks.train.output}}/sum ${{tasks.train.output}}/host
"""


def test_outputs_follow_the_tasks_from_place_to_place(ssh_pool: SshPool, tmp_path: Path) -> None:
    file = tmp_path / "squares.yaml"
    file.write_text(PIPELINE)
    planned = ssh_pool.json("plan", str(file))
    assert [(task["name"], task["chosen"]) for task in planned["tasks"]] == [
        ("prepare", "local"),
        ("train", ON),
        ("check", ON),
        ("report", "local"),
    ]
    printed = ssh_pool.run("run", str(file)).splitlines()
    assert {"train-0 | 3000000", "check-0 | 385", "report-0 | 385"} <= set(printed)
    assert any(line.startswith("report-0 | h") for line in printed), printed
    jobs = ssh_pool.json("runs", "show", "squares")["jobs"]
    assert {job["metadata"]["labels"][TASK]: job["spec"]["backend"] for job in jobs} == {
        "prepare": "local",
        "train": ON,
        "check": ON,
        "report": "local",
    }
    made = ssh_pool.run("runs", "rerun", "squares", "--from", "check").split()[::2]
    assert [name[:13] for name in made] == ["squares-check", "squares-repor"]
    assert "check-0 | 385" in ssh_pool.run("runs", "logs", "-f", "squares")
