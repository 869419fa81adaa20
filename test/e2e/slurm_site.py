"""A Trainway beside a real Slurm: an installation whose configuration names the cluster."""

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import yaml
from installation import Installation, installed
from patience import until

from slurm_cluster import SlurmCluster

__all__ = ["ON", "SlurmSite", "site_of", "until"]

ON: Final = "slurm/test"


@dataclass(frozen=True)
class SlurmSite(Installation):
    """Commands on the login node of a cluster, which is this machine."""

    slurm: SlurmCluster = field(kw_only=True)
    shared: Path = field(kw_only=True)
    """Where jobs are kept on the cluster."""

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
        until(
            lambda: self.look(job_id)["status"]["phase"] in phases,
            f"it does not become {' or '.join(phases)}",
        )


@contextlib.contextmanager
def site_of(
    cluster: SlurmCluster,
    folder: Path,
    variables: Mapping[str, str] | None = None,
    section: Mapping[str, object] | None = None,
    **options: str,
) -> Iterator[SlurmSite]:
    """An installation that is empty at first, and gone at the end.

    `section` is what else the configuration says of the cluster, `options` are of sbatch.
    """
    home, shared = folder / "home", folder / "shared"
    home.mkdir(parents=True)
    environ = {**(variables or {}), **cluster.environment}
    path = environ.get("PATH") or os.environ["PATH"]
    told = {
        "home": str(shared),
        "env": {"PATH": path},
        "sbatch_options": options,
        **(section or {}),
    }
    (home / "config.yaml").write_text(yaml.safe_dump({"clusters": {"test": told}}))
    with installed(home, environ):
        yield SlurmSite(home, environ, slurm=cluster, shared=shared)
