"""What somebody may ask for beside the thing to run: the arguments of `Client.run`."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from trainway.api.health_check import in_words
from trainway.compiler.restarts import exit_codes_of
from trainway.errors import UsageError
from trainway.json_types import Json
from trainway.sdk.export import exporting
from trainway.sdk.hang_timeout import with_hang_timeout
from trainway.sdk.health_check import checked
from trainway.sdk.job_labels import labelled
from trainway.sdk.manifests import Resources, Wishes, packed, reading_logs
from trainway.sdk.node_range import parse_nodes
from trainway.sdk.slurm_options import Value

Amount = str | int | float

_LONGEST: Final = 2**31 - 1
"""The longest time that can be given, in seconds."""


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """As `Client.run` describes them."""

    args: Sequence[Any] = ()
    kwargs: Mapping[str, Any] | None = None
    nodes: int | str | None = None
    procs_per_node: int | None = None
    gpus: Amount | None = None
    cpus: Amount | None = None
    memory: Amount | None = None
    memory_limit: Amount | None = None
    env: Mapping[str, str] | None = None
    secrets: Mapping[str, str] | None = None
    packages: Sequence[str] = ()
    requirements: Sequence[str | Path] | str | Path = ()
    checkpoint: str | None = None
    name: str | None = None
    runtime: str | None = None
    priority: int = 0
    restarts: int = 0
    recover_on_exit_codes: Sequence[int] = ()
    on: str | None = None
    prefer: str | None = None
    oversubscribe: bool = False
    image: str | None = None
    containers: bool = False
    slurm: Mapping[str, Value] | None = None
    pack: bool = False
    allow_pickle: bool = False
    timeout: float | None = None
    notify: Sequence[str] = ()
    labels: Mapping[str, str] | None = None
    metrics_from_logs: str | bool = False
    hang_timeout: float | None = None
    health_check: bool | str = False
    export: str | None = None
    queue: str | None = None
    max_wait: float | None = None
    recovery_strategy: str | None = None
    deadline: datetime | None = None
    work: float | None = None
    max_cost: float | None = None
    max_cost_each: float | None = None
    use_spot: bool = False

    def waiting(self) -> Json:
        """The options of a submission that say where the job may go while it waits: nowhere."""
        return {}

    def marked(self, objects: Sequence[Json]) -> list[Json]:
        """The objects of the job, with what else is asked of it: labels, sharing nodes, ..."""
        shared = packed(list(objects)) if self.pack else objects
        shared = checked(shared, in_words(self.health_check)) if self.health_check else shared
        marked = labelled(with_hang_timeout(shared, self.hang_timeout), self.labels or {})
        if self.checkpoint is not None:
            from trainway.sdk.checkpoints import with_checkpoint  # noqa: PLC0415 - seldom needed

            marked = with_checkpoint(marked, self.checkpoint)
        if self.packages or self.requirements:
            from trainway.sdk.packages import asking_for, requirement_lines  # noqa: PLC0415 - seldom

            given = self.requirements
            files = [given] if isinstance(given, str | Path) else given
            marked = asking_for(marked, requirement_lines(self.packages, files))
        return exporting(reading_logs(marked, self.metrics_from_logs), self.export)

    @property
    def sent(self) -> Json:
        """What concerns the submission, and not the objects."""
        return {
            "priority": self.priority,
            "oversubscribe": self.oversubscribe,
            **({"notify": list(self.notify)} if self.notify else {}),
            **({"queue": self.queue} if self.queue else {}),
            **({} if self.max_cost is None else {"max_cost": self.max_cost}),
            **({} if self.max_cost_each is None else {"max_cost_each": self.max_cost_each}),
            **({"use_spot": True} if self.use_spot else {}),
        }

    @property
    def wishes(self) -> Wishes:
        """What concerns the objects of the job."""
        nodes = None if self.nodes is None else parse_nodes(self.nodes)
        return Wishes(
            name=self.name,
            nodes=None if nodes is None else nodes.maximum,
            min_nodes=None if nodes is None else nodes.minimum,
            procs_per_node=self.procs_per_node,
            resources=Resources(
                amount(self.cpus),
                amount(self.memory),
                amount(self.gpus),
                amount(self.memory_limit),
            ),
            env=dict(self.env or {}),
            runtime=self.runtime,
            image=self.image,
            restarts=self.restarts,
            recover_on_exit_codes=checked_exit_codes(self.recover_on_exit_codes),
            on=self.on,
            containers=self.containers,
            secrets=dict(self.secrets or {}),
            timeout=None if self.timeout is None else whole_seconds(self.timeout),
        )


def checked_exit_codes(codes: Sequence[int]) -> tuple[int, ...]:
    """The exit codes after which a job restarts however often, in order."""
    try:
        return tuple(exit_codes_of(",".join(map(str, codes))))
    except ValueError as error:
        raise UsageError(
            f"{error} is not an exit code of a failure, or several",
            field="recover_on_exit_codes",
            hint="write numbers from 1 to 255, such as 33,34",
        ) from None


def whole_seconds(seconds: float) -> int:
    """The seconds that a job may run, as Kubernetes counts them."""
    if not 1 <= seconds <= _LONGEST:
        raise UsageError(f"a job cannot have a timeout of {seconds:g} seconds")
    return math.ceil(seconds)


def amount(value: Amount | None) -> str | None:
    """An amount as Kubernetes writes it."""
    return None if value is None else str(value)
