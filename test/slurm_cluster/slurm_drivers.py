"""Jobs that a driver runs on the cluster, submitted as the relay would, without a server."""

import json
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path, PurePath
from typing import Any

from patience import PATIENCE_S, until

from slurm_cluster import SlurmCluster
from trainway.agent.base.launch import write_compiled_zip
from trainway.agent.base.testing import container, role
from trainway.backends.base import Workload
from trainway.backends.slurm.planning import plan
from trainway.backends.slurm.section import ConfiguredCluster
from trainway.json_types import Json

CHECKPOINTS = (
    'trap "trap : TERM; echo saved; exit 0" TERM; echo begun; '
    '[ "$TRAINWAY_RESTART_ATTEMPT" != 0 ] || while :; do sleep 1000 & wait; done'
)
"""Hangs until it is told to stop, and ends when it has begun anew.

Slurm tells all its processes, so the sleep may be gone before the shell has heard.
"""


def requests(**amounts: str) -> Json:
    """What a container asks for."""
    names = {"gpu": "nvidia.com/gpu"}
    return {"resources": {"limits": {names.get(k, k): v for k, v in amounts.items()}}}


def node(script: str, pods: int = 2, **more: Any) -> Json:
    """A role whose pods run a script."""
    resources = more.pop("requests", requests(cpu="1", memory="100Mi"))
    main = container("main", script, **resources)
    return role("node", main, parallelism=pods, completions=pods, **more)


@cache
def agent() -> bytes:
    """The file that drives, as the relay makes it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "agent.pyz")
        write_compiled_zip(path)
        return path.read_bytes()


class DrivenJob:
    """One job's directory and its batch job."""

    def __init__(
        self,
        cluster: SlurmCluster,
        folder: Path,
        jobset: Json,
        *,
        source: str = "JobSet",
        **sbatch: str,
    ) -> None:
        self.cluster = cluster
        self.path = folder / "jobs" / "driven"
        self.path.mkdir(parents=True)
        workload = Workload(
            id="driven",
            name="driven",
            namespace="default",
            jobset=jobset,
            objects=[],
            workdir=str(folder),
            environ={},
            port=29500,
            source={"kind": source, "metadata": jobset["metadata"], "spec": {}},
        )
        site = ConfiguredCluster(
            "test",
            python=sys.executable,
            home=str(folder),
            options={k.replace("_", "-"): v for k, v in sbatch.items()},
        )
        request = plan(workload, site, PurePath(folder))
        (self.path / "plan.json").write_text(json.dumps(request.plan))
        (self.path / "agent.pyz").write_bytes(agent())
        self.number = cluster.submit(request.script, f"--chdir={self.path}")

    def said(self) -> str:
        """What the driver and Slurm printed."""
        return "".join(path.read_text() for path in self.path.glob("slurm-*.out"))

    @property
    def token(self) -> tuple[int, int]:
        """The attempt that counts: the number of the batch job, and how often it was requeued."""
        number, requeued = (self.path / "token").read_text().split(".")
        return int(number), int(requeued)

    def records(self) -> list[Json]:
        """The journal."""
        path = self.path / "journal.jsonl"
        text = path.read_bytes().rpartition(b"\n")[0] if path.exists() else b""
        return [json.loads(line) for line in text.splitlines()]

    def find(self, **fields: Any) -> list[Json]:
        """All records with these fields."""
        return [record for record in self.records() if fields.items() <= record.items()]

    def until(self, is_so: Callable[[], object], patience_s: float = PATIENCE_S) -> None:
        """Wait for something to be so."""
        until(lambda: bool(is_so()), f"{self.records()[-3:]}", patience_s, self.said)

    def until_log(self, name: str, text: str) -> None:
        """Wait until something is in a log."""
        path = self.path / "logs" / f"{name}.log"
        self.until(lambda: path.exists() and text in path.read_text())

    def log(self, name: str) -> list[str]:
        """The lines of a log, without time and stream."""
        lines = (self.path / "logs" / f"{name}.log").read_text().splitlines()
        return [line.split(" ", 2)[2] for line in lines]

    def end(self, patience_s: float = PATIENCE_S) -> Json:
        """Wait for the end of the job."""
        self.until(lambda: self.find(type="end"), patience_s)
        return self.find(type="end")[-1]

    @property
    def hosts(self) -> dict[str, str]:
        """The node of each pod, as of late."""
        hosts: dict[str, str] = self.find(type="placement")[-1]["hosts"]
        return hosts

    @property
    def restarts(self) -> int:
        """How often the JobSet was begun anew."""
        return int(self.find(type="status")[-1]["jobset"]["restarts"])
