"""The clusters of a client; most of it is imported when somebody asks for them."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainway.errors import UnavailableError
from trainway.json_types import Json
from trainway.sdk.job import Job
from trainway.sdk.rest import Rest
from trainway.sdk.run_options import Amount, amount
from trainway.sdk.slurm_options import Value

if TYPE_CHECKING:
    from trainway.sdk.cluster_rest import ClusterRest
    from trainway.sdk.clusters import Cluster


class ClusterAccess:
    """A client that knows clusters."""

    _rest: Rest

    def launch(  # noqa: PLR0913 - every argument is one a user may want, by name
        self,
        target: str | Path | Mapping[str, Any],
        *,
        cluster: str = "",
        infra: str = "",
        name: str | None = None,
        nodes: int | None = None,
        cpus: Amount | None = None,
        memory: Amount | None = None,
        gpus: Amount | None = None,
        env: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | None = None,
        workdir: str | None = None,
        idle_minutes: int | None = None,
        down: bool = False,
        slurm: Mapping[str, Value] | None = None,
        use_spot: bool = False,
        retry_until_up: bool = False,
        max_cost: float | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> "tuple[Cluster, Job]":
        """Run a task (a file, or a dict) or a shell's command on a cluster, made if there is none.

        Amounts are for each node and written as in a task: `cpus="4+"`, `memory=16`, `gpus="A100"`.
        `slurm` are options of sbatch, for a cluster on Slurm. A cluster that has cost `max_cost`
        dollars is taken down. Cluster and job have `labels`; budgets of months count by these. On a
        cloud it returns when the machines are there, or raises what was tried; `use_spot` rents
        spot machines, and with `retry_until_up` clouds are asked until one has machines.
        """
        from trainway.sdk.cluster_submission import submit, task_of  # noqa: PLC0415 - seldom needed
        from trainway.sdk.cluster_tasks import TaskWishes  # noqa: PLC0415 - as above
        from trainway.sdk.clusters import Cluster  # noqa: PLC0415 - as above
        from trainway.sdk.rented_cluster import settled, why_none  # noqa: PLC0415 - as above
        from trainway.sdk.submitter import user_label  # noqa: PLC0415 - as above

        amounts = (amount(cpus), amount(memory), amount(gpus))
        variables = (dict(env or {}), dict(secrets or {}))
        task = task_of(target, TaskWishes(name, nodes, *amounts, workdir, *variables))
        wanted: Json = {
            "name": cluster,
            "infra": infra,
            "nodes": task.nodes,
            "resources": {**task.resources, **({"use_spot": True} if use_spot else {})},
            "idle_minutes": idle_minutes,
            "down": down,
            "retry_until_up": retry_until_up,
            "slurm": {**task.slurm(infra), **(slurm or {})},
            "labels": {**user_label(os.environ), **(labels or {})},
        }
        if max_cost is not None:
            wanted["max_cost"] = max_cost
        rest = self._clusters()
        made = settled(rest, rest.launch(wanted), say=_quietly)
        if why := why_none(made):
            raise UnavailableError("; ".join(why))
        data, warnings = submit(rest, made, task, with_setup=True, labels=labels)
        for warning in warnings:
            _warn(warning)
        return Cluster(rest, made), Job(rest, data)

    def cluster(self, name: str) -> "Cluster":
        """The cluster of that name."""
        from trainway.sdk.clusters import Cluster  # noqa: PLC0415 - seldom needed

        rest = self._clusters()
        return Cluster(rest, rest.cluster(name))

    def clusters(self, *, refresh: bool = False) -> "list[Cluster]":
        """All clusters; `refresh` asks their agents first."""
        from trainway.sdk.clusters import Cluster  # noqa: PLC0415 - seldom needed

        rest = self._clusters()
        return [Cluster(rest, item) for item in rest.clusters(refresh=refresh)]

    def _clusters(self) -> "ClusterRest":
        from trainway.sdk.cluster_rest import ClusterRest  # noqa: PLC0415 - seldom needed

        return ClusterRest(self._rest.transport)


def _quietly(message: str) -> None:
    """A program is not told what is tried; `Cluster.data` has it."""
    del message


def _warn(message: str) -> None:
    import warnings  # noqa: PLC0415 - seldom needed

    warnings.warn(message, stacklevel=3)
