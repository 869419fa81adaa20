"""What somebody may ask for beside the thing to run: the arguments of `Client.run`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainway.sdk.manifests import Resources, Wishes
from trainway.sdk.slurm_options import Value

Amount = str | int | float


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """As `Client.run` describes them."""

    args: Sequence[Any] = ()
    kwargs: Mapping[str, Any] | None = None
    nodes: int | None = None
    procs_per_node: int | None = None
    gpus: Amount | None = None
    cpus: Amount | None = None
    memory: Amount | None = None
    env: Mapping[str, str] | None = None
    packages: Sequence[str] = ()
    name: str | None = None
    runtime: str | None = None
    priority: int = 0
    restarts: int = 0
    on: str | None = None
    oversubscribe: bool = False
    image: str | None = None
    containers: bool = False
    slurm: Mapping[str, Value] | None = None
    allow_pickle: bool = False

    @property
    def wishes(self) -> Wishes:
        """What concerns the objects of the job."""
        return Wishes(
            name=self.name,
            nodes=self.nodes,
            procs_per_node=self.procs_per_node,
            resources=Resources(amount(self.cpus), amount(self.memory), amount(self.gpus)),
            env=dict(self.env or {}),
            runtime=self.runtime,
            image=self.image,
            restarts=self.restarts,
            on=self.on,
            containers=self.containers,
        )


def amount(value: Amount | None) -> str | None:
    """An amount as Kubernetes writes it."""
    return None if value is None else str(value)
