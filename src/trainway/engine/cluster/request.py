"""What somebody asks for when they want a cluster."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from trainway.api.task.infra import parse
from trainway.engine.cluster.agents import Agents
from trainway.engine.cluster.record import ClusterRecord
from trainway.engine.cluster.rented import asked
from trainway.engine.cluster.shape import Wanted
from trainway.engine.costs.budget import JobBudget
from trainway.errors import ConflictError, UsageError
from trainway.families.builtin import BUILTIN
from trainway.families.clouds import ANY
from trainway.families.family import Clusters
from trainway.families.table import family_of
from trainway.jobset.label_syntax import key_problem, value_problem
from trainway.json_types import Json

_REGION_AND_ZONE: Final = 2


@dataclass(frozen=True)
class Launch:
    """A request for a cluster."""

    name: str = ""
    infra: str = ""
    """The infrastructure; empty: where the resources say, else this machine."""
    nodes: int = 1
    resources: Mapping[str, Any] | None = None
    """The resources, as in a task."""
    idle_minutes: int | None = None
    down: bool = False
    slurm: Mapping[str, Any] | None = None
    """The options of sbatch, for a cluster on Slurm."""
    retry_until_up: bool = False
    """Whether to go on asking clouds until one has the machines."""
    dry_run: bool = False
    worker_pool: str = ""
    """The worker pool that it is for; nobody but the engine says so."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Whose it is, and what else its owner says of it."""
    max_cost: float | None = None
    """What it may cost, in dollars, before it is taken down."""

    @property
    def budget(self) -> str | None:
        """What it may cost, as its record has it."""
        limit = self.max_cost
        return None if limit is None else JobBudget(Decimal(str(limit))).text()

    @property
    def terms(self) -> Json:
        """On which terms machines are rented, beside what the resources say."""
        return {"retry_until_up": self.retry_until_up}


def labels_text(labels: Mapping[str, str]) -> str:
    """Labels as the record of a cluster has them; raises for one that cannot be."""
    for key, value in labels.items():
        if problem := key_problem(key) or value_problem(value):
            raise UsageError(f"the label {key}={value} cannot be set: {problem}", field="labels")
    return json.dumps(dict(labels))


def infra_of(agents: Agents, given: str, wanted: Wanted) -> str:
    """Where a cluster is to be: as was said, else as its task says."""
    if given:
        return canonical(agents, given)
    return agents.infra(wanted.infra.cloud, wanted.infra.region, wanted.infra.zone)


def canonical(agents: Agents, text: str) -> str:
    """The full name of an infrastructure; tasks have words for clouds, but not for all families."""
    family, *parts = [part for part in text.split("/") if part] or [""]
    if family not in BUILTIN and family_of(family).clusters is not Clusters.NONE:
        if len(parts) > _REGION_AND_ZONE:
            raise UsageError(
                f"{text}: at most a region and a zone may follow {family}",
                hint=f"write {family}/REGION/ZONE",
            )
        return agents.infra(family, *(*parts, None, None)[:2])
    try:
        infra = parse(text)
    except ValueError as error:
        raise UsageError(f"{text}: {error}", field="infra") from None
    return agents.infra(infra.cloud, infra.region, infra.zone)


def autostop_of(request: Launch, wanted: Wanted) -> Json | None:
    """What was asked for beside the task counts before what the task says."""
    if request.idle_minutes is not None or request.down:
        return {"minutes": request.idle_minutes or 0, "down": request.down}
    if wanted.autostop is None:
        return None
    return {"minutes": wanted.autostop.idle_minutes, "down": wanted.autostop.down}


def is_stoppable(infra: str) -> bool:
    """Whether a cluster there can let go of its nodes and get nodes again."""
    return family_of(infra).clusters is Clusters.STOPPABLE


def is_at(record: ClusterRecord, infra: str) -> bool:
    """Whether a cluster is where it is wanted; one on a cloud may be anywhere in that place."""
    if not family_of(infra).rents:
        return record.infra == infra
    wanted, found = infra.split("/"), record.infra.split("/")
    pairs = zip(wanted, found, strict=False)
    return len(wanted) <= len(found) and all(a in (b, "*", ANY) for a, b in pairs)


def stored(wanted: Wanted, infra: str, request: Launch) -> Json:
    """What is to be remembered of a cluster: its shape, and what else its nodes are got with."""
    data, row = wanted.shape.to_dict(), family_of(infra)
    if row.rents:
        data |= asked(infra, dict(request.resources or {}), request.terms)
    if row.options:
        return data | {row.options: dict(request.slurm or {})}
    if request.slurm:
        raise UsageError(
            "options of Slurm can only be used for clusters on Slurm",
            hint="use --slurm together with --infra slurm/CLUSTER",
        )
    return data


def check_autostop(infra: str, autostop: Json | None) -> None:
    """Refuse what hosts of others cannot do."""
    if not is_stoppable(infra) and autostop is not None and not autostop["down"]:
        raise ConflictError(
            f"a cluster on {infra} cannot stop when it is idle: its hosts cannot be switched off",
            hint="use --down to take it down instead, which releases the hosts",
        )
