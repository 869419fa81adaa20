"""Where a job of a pool agent goes: `ssh/POOL` and `cluster/NAME` both lead to one."""

from dataclasses import dataclass
from typing import Protocol

from trainway.backends.login.login_fields import COPY
from trainway.json_types import Json


@dataclass(frozen=True)
class Site:
    """One place to run jobs: a pool agent, and one of its queues."""

    name: str
    """The name as users write it, after the family."""
    pool: str
    """The name of the agent's directory below `pools`."""
    queue: str = ""
    """The cluster within the pool; empty: all of it."""
    outputs: str = COPY


class Sites(Protocol):
    """The sites of one family of names."""

    @property
    def family(self) -> str:
        """What their names begin with."""
        ...

    def names(self) -> list[str]:
        """Those that can be listed, without the family."""
        ...

    def find(self, target: str) -> Site:
        """The site that a name means; raises TrainwayError, with a hint."""
        ...

    def hosts(self, target: str) -> list[Json]:
        """Its hosts, as the agent is told of them; none: it knows them already. Takes its time."""
        ...
