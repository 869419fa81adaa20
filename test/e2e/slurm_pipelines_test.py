"""A pipeline over this machine and Slurm: outputs go there with the job, and come back."""

from pathlib import Path

import pytest
from slurm_site import ON, SlurmSite

from trainway.jobset.labels import TASK

pytestmark = pytest.mark.xdist_group("slurm")

PIPELINE = f"""\
name: squares
---
name: prepare
run: seq 10 > "$TRAINWAY_OUTPUT_DIR/numbers"
---
name: train
resources: {{infra: {ON}}}
envs: {{DATA: "${{tasks.prepare.output}}/numbers"}}
run: |
  awk '{{s += $1 * $1}} END {{print s}}' "$DATA" > "$TRAINWAY_OUTPUT_DIR/sum"
---
name: report
run: cat ${{tasks.train.output}}/sum
"""


def test_outputs_go_to_slurm_and_come_back(slurm_site: SlurmSite, tmp_path: Path) -> None:
    file = tmp_path / "squares.yaml"
    file.write_text(PIPELINE)
    assert "report-0 | 385" in slurm_site.run("run", str(file)).splitlines()
    jobs = slurm_site.json("runs", "show", "squares")["jobs"]
    assert {job["metadata"]["labels"][TASK]: job["spec"]["backend"] for job in jobs} == {
        "prepare": "local",
        "train": ON,
        "report": "local",
    }
