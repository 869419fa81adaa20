"""Clusters for programs: launch one, run jobs on it, and give it back."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trainway.json_types import Json
from trainway.sdk.cluster_rest import ClusterRest
from trainway.sdk.cluster_submission import submit, task_of
from trainway.sdk.cluster_tasks import TaskWishes
from trainway.sdk.job import Job


class Cluster:
    """A held allocation with a queue of its own."""

    def __init__(self, rest: ClusterRest, data: Json) -> None:
        self._rest = rest
        self.data = data
        """The cluster as the server last showed it."""

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.data["metadata"]["name"])

    @property
    def infra(self) -> str:
        """Where it is: `local`, `ssh/POOL` or `slurm/CLUSTER`."""
        return str(self.data["spec"]["infra"])

    @property
    def status(self) -> str:
        """INIT, UP, STOPPED or AUTOSTOPPING, as it is now."""
        self.data = self._rest.cluster(self.name)
        return str(self.data["status"]["phase"])

    def exec(
        self,
        target: str | Path | Mapping[str, Any],
        *,
        name: str | None = None,
        nodes: int | None = None,
        gpus: str | None = None,
        env: Mapping[str, str] | None = None,
        workdir: str | None = None,
    ) -> Job:
        """Put a job into its queue: a task (a file, or a dict), or a command of a shell."""
        wishes = TaskWishes(name, nodes, gpus=gpus, env=dict(env or {}), workdir=workdir)
        data, _ = submit(self._rest, self.data, task_of(target, wishes), with_setup=False)
        return Job(self._rest, data)

    def queue(self) -> list[Job]:
        """Its jobs, newest first."""
        return [Job(self._rest, item["job"]) for item in self._rest.queue(self.name)]

    def job(self, number: int) -> Job | None:
        """The job of that number."""
        found = (item for item in self._rest.queue(self.name) if item["number"] == number)
        return next((Job(self._rest, item["job"]) for item in found), None)

    def autostop(self, idle_minutes: int | None, *, down: bool = False) -> None:
        """Set after how long without a job it stops or goes down; None: never."""
        body = {"idle_minutes": idle_minutes, "down": down}
        self.data = self._rest.cluster_act(self.name, "autostop", body)

    def stop(self) -> None:
        """End its jobs and give back its nodes; it can be started again."""
        self.data = self._rest.cluster_act(self.name, "stop")

    def start(self) -> None:
        """Have its nodes again."""
        self.data = self._rest.cluster_act(self.name, "start")

    def down(self, *, purge: bool = False) -> None:
        """End its jobs, give back its nodes and forget it."""
        self._rest.down(self.name, purge=purge)
