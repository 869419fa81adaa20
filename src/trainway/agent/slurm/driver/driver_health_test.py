"""The health check of a gang in an allocation: real processes, and no Slurm."""

import json
from pathlib import Path
from typing import Any

from trainway.agent.base.labels import HEALTH_CHECK
from trainway.agent.base.testing import container, jobset, role
from trainway.agent.slurm.testing import slurm_job
from trainway.json_types import Json

BROKEN = "#!/bin/sh\necho broken\nexit 9\n"


def checked(folder: Path) -> tuple[Json, dict[str, Any]]:
    """A job on a node whose GPUs are broken, and its environment."""
    program = folder / "nvidia-smi"
    program.write_text(BROKEN)
    program.chmod(0o755)
    spec = jobset(
        role("node", container("main", f"touch {folder}/ran")), failurePolicy={"maxRestarts": 0}
    )
    spec["metadata"]["annotations"] = {HEALTH_CHECK: "true"}
    return spec, {"CUDA_VISIBLE_DEVICES": "0", "PATH": f"{folder}:/usr/bin:/bin"}


def test_a_job_that_must_not_be_requeued_ends_with_its_node(tmp_path: Path) -> None:
    """Slurm has chosen the nodes, and there is no way to have others."""
    spec, env = checked(tmp_path)
    with slurm_job(spec, env=env, slurm={"roles": {}, "requeue": False}) as job:
        assert job.run() == 1
        end = job.records()[-1]
        told = job.find(reason="NodeSetAside")
    assert told is not None
    assert (told["object"], told["message"].partition(":")[0]) == (
        "Node/a",
        "node a failed its health check",
    )
    assert end["reason"] == "HealthCheckFailed"
    assert end["message"] == "node-0-0: nvidia-smi exited with 9: broken"
    assert not (tmp_path / "ran").exists()


def test_a_node_that_fails_its_check_is_named_and_the_job_begins_elsewhere(tmp_path: Path) -> None:
    spec, env = checked(tmp_path)
    with slurm_job(spec, env=env) as job:
        job.run()
        assert ["scontrol", "requeuehold", "7"] in job.calls()
        assert json.loads((job.path / "sick-nodes.json").read_text()) == {
            "a": "nvidia-smi exited with 9: broken"
        }
        told = job.find(reason="NodeSetAside")
        assert told is not None
        assert told["object"] == "Node/a"
        assert told["message"].startswith("node a failed its health check: nvidia-smi exited with")
        assert not job.find(type="end"), "it goes on elsewhere: see test/e2e/slurm_recovery_test.py"
    assert not (tmp_path / "ran").exists()
