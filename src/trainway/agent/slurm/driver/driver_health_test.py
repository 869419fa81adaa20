"""The health check of a gang in an allocation: real processes, and no Slurm."""

from pathlib import Path

from trainway.agent.base.labels import HEALTH_CHECK
from trainway.agent.base.testing import container, jobset, role
from trainway.agent.slurm.testing import slurm_job


def test_a_node_that_fails_its_check_ends_the_job_and_is_named(tmp_path: Path) -> None:
    """Slurm has chosen the nodes, and would choose the same ones again."""
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho broken\nexit 9\n")
    program.chmod(0o755)
    spec = jobset(
        role("node", container("main", f"touch {tmp_path}/ran")), failurePolicy={"maxRestarts": 3}
    )
    spec["metadata"]["annotations"] = {HEALTH_CHECK: "true"}
    env = {"CUDA_VISIBLE_DEVICES": "0", "PATH": f"{tmp_path}:/usr/bin:/bin"}
    with slurm_job(spec, env=env) as job:
        assert job.run() == 1
        end = job.records()[-1]
    assert end["reason"] == "HealthCheckFailed"
    assert end["message"] == "node-0-0: nvidia-smi exited with 9: broken"
    assert not (tmp_path / "ran").exists()
