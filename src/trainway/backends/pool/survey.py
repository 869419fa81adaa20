"""What was found when all hosts of a pool were asked: a line for each, and what they have."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trainway.backends.base import Capacity, Check
from trainway.backends.pool.capacity import capacity_of, described
from trainway.backends.pool.checks import Answer, asked, check
from trainway.json_types import Json


@dataclass(frozen=True)
class Survey:
    """The answers of all hosts."""

    checks: tuple[Check, ...] = ()
    capacity: Capacity = field(default_factory=Capacity)

    @classmethod
    async def of(
        cls, hosts: Sequence[Json], status: Sequence[Json], environ: Mapping[str, str]
    ) -> "Survey":
        """Ask the hosts; `status` is what the pool's agent says of them, if it runs."""
        remote = [host for host in hosts if "command" not in host]
        answers = await asyncio.gather(
            *(
                asked(host, [each for each in remote if each is not host], environ)
                for host in remote
            )
        )
        return surveyed(list(zip(remote, answers, strict=True)), status)


def surveyed(answers: Sequence[tuple[Json, Answer]], status: Sequence[Json]) -> Survey:
    """All of it together; the agent's word counts more, since it knows what is free."""
    known = {str(host["name"]): host for host in status}
    found = []
    for host, answer in answers:
        told = known.pop(host["name"], None) or {}
        if answer.report:
            found.append(told if told.get("cpus") else described(host, answer.report))
    checks = tuple(check(host, answer) for host, answer in answers)
    return Survey(checks, capacity_of([*found, *known.values()]))
