"""A Trainway beside a real Slurm: an installation whose configuration names the cluster."""

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml
from installation import Installation, installed

from slurm_cluster import SlurmCluster

ON: Final = "slurm/test"
PATIENCE_S: Final = 60.0


@dataclass(frozen=True)
class SlurmSite(Installation):
    """Commands on the login node of a cluster, which is this machine."""

    cluster: SlurmCluster | None = None
    shared: Path = Path()
    """Where jobs are kept on the cluster."""

    @property
    def slurm(self) -> SlurmCluster:
        """The cluster."""
        assert self.cluster is not None
        return self.cluster

    def slurm_job(self, job_id: str) -> int:
        """The newest batch job of a job of ours."""
        lines = self.slurm.run("squeue", "-h", "--states=all", "-o", "%A %k").splitlines()
        pairs = (line.split(" ")[:2] for line in lines)
        marks = {mark: number for number, mark in pairs}
        return int(marks[f"trainway:{job_id}"])

    def folder(self, job_id: str) -> Path:
        """The job's directory on the cluster."""
        return self.shared / "jobs" / job_id

    def wait_for_phase(self, job_id: str, *phases: str) -> None:
        """Wait until the job is in one of the phases."""
        until(lambda: self.phase(job_id) in phases, f"it does not become {' or '.join(phases)}")


def until(is_so: Callable[[], bool], complaint: str, patience_s: float = PATIENCE_S) -> None:
    """Wait for something that no event tells of."""
    deadline = time.monotonic() + patience_s
    while not is_so():
        assert time.monotonic() < deadline, complaint
        time.sleep(0.1)


@contextlib.contextmanager
def site_of(
    cluster: SlurmCluster,
    folder: Path,
    variables: Mapping[str, str] | None = None,
    **options: str,
) -> Iterator[SlurmSite]:
    """An installation that is empty at first, and gone at the end; `options` are of sbatch."""
    home, shared = folder / "home", folder / "shared"
    home.mkdir(parents=True)
    given = dict(variables or {})
    path = given.get("PATH") or os.environ["PATH"]
    section = {"home": str(shared), "env": {"PATH": path}, "sbatch_options": options}
    (home / "config.yaml").write_text(yaml.safe_dump({"clusters": {"test": section}}))
    environ = {**given, **cluster.environment}
    with installed(home, environ):
        yield SlurmSite(home, environ, cluster, shared)
