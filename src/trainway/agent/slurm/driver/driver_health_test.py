"""The health check of a gang in an allocation: real processes, and no Slurm."""

import json
from pathlib import Path
from typing import Any

from trainway.agent.base.labels import HEALTH_CHECK
from trainway.agent.base.testing import container, jobset, role
from trainway.agent.slurm.testing import slurm_job
from trainway.json_types import Json

SOUND = "#!/bin/sh\necho '0, GPU-1, 0'\n"
BROKEN = "#!/bin/sh\necho broken\nexit 9\n"


def checked(folder: Path, script: str) -> tuple[Path, Json, dict[str, Any]]:
    """The program that is asked about GPUs, a job that asks it, and its environment."""
    program = folder / "nvidia-smi"
    program.write_text(script)
    program.chmod(0o755)
    spec = jobset(
        role("node", container("main", f"touch {folder}/ran")), failurePolicy={"maxRestarts": 0}
    )
    spec["metadata"]["annotations"] = {HEALTH_CHECK: "true"}
    return program, spec, {"CUDA_VISIBLE_DEVICES": "0", "PATH": f"{folder}:/usr/bin:/bin"}


def test_a_job_that_must_not_be_requeued_ends_with_its_node(tmp_path: Path) -> None:
    """Slurm has chosen the nodes, and there is no way to have others."""
    _, spec, env = checked(tmp_path, BROKEN)
    with slurm_job(spec, env=env, slurm={"roles": {}, "requeue": False}) as job:
        assert job.run() == 1
        end = job.records()[-1]
    assert end["reason"] == "HealthCheckFailed"
    assert end["message"] == "node-0-0: nvidia-smi exited with 9: broken"
    assert not (tmp_path / "ran").exists()


def test_a_node_that_fails_its_check_is_named_and_the_job_begins_elsewhere(tmp_path: Path) -> None:
    program, spec, env = checked(tmp_path, BROKEN)
    with slurm_job(spec, env=env) as job:
        job.run()
        assert ["scontrol", "requeuehold", "7"] in job.calls()
        assert json.loads((job.path / "sick-nodes.json").read_text()) == {
            "a": "nvidia-smi exited with 9: broken"
        }
        told = job.find(reason="NodeSetAside")
        assert told is not None
        assert told["message"].startswith("node a failed its health check: nvidia-smi exited with")
        assert not (tmp_path / "ran").exists()
        program.write_text(SOUND)  # as on another node
        assert job.run(restarts=1) == 0, job.said()
        assert job.records()[-1]["succeeded"]
    assert (tmp_path / "ran").exists()
