"""Which objects of a cluster are those of a job, by their names. Pure."""

import re
from collections.abc import Mapping

from trainway.data.flight.contract import HEAD


class Names:
    """Which objects are a job's, by kind and name."""

    def __init__(self, name: str, roles: Mapping[str, int]) -> None:
        self._name = name
        self._jobs = {f"{name}-{role}-{i}" for role, count in roles.items() for i in range(count)}
        self._pod = re.compile(rf"(?P<job>{re.escape(name)}-.+)-\d+-[a-z0-9]{{5}}")
        self._mpi = re.compile(rf"{re.escape(name)}-(launcher(-\w{{5}})?|worker-\d+)")
        self._group = re.compile(rf"{re.escape(name)}-{HEAD}-0-0(-\d+)?")

    def match(self, kind: str, name: str) -> bool:
        """Whether the object of that kind and name is one of them."""
        if kind in ("Job", "LeaderWorkerSet"):
            return name in self._jobs or name == f"{self._name}-launcher"
        if kind != "Pod":
            return name == self._name
        found = self._pod.fullmatch(name)
        is_listed = found is not None and found["job"] in self._jobs
        return is_listed or any(each.fullmatch(name) for each in (self._mpi, self._group))
