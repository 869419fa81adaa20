"""How long the folders of jobs that are over stay on a login node, as `config.yaml` says it.

retention:
  days: 30
  size: 50Gi

All that belongs to a job is copied here while it runs, so that its folder there is only needed by
who looks at it by hand. One whose files have not all come is never touched, nor one whose output is
to stay there (`outputs: keep`): only jobs that carry a mark of ours are looked at.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from trainway.backends import configuration
from trainway.backends.agents.jobdir import JobDir, write_private
from trainway.backends.job_threads import job_threads
from trainway.backends.login.login_fields import COPY
from trainway.errors import TrainwayError
from trainway.jobset.quantity import InvalidQuantityError, Quantity
from trainway.json_types import Json
from trainway.schema.field import FieldError, invalid
from trainway.schema.field import Path as FieldPath
from trainway.schema.shape import TEXT, Either, Number, Record

MARK: Final = "fetched"
"""The file in a job's directory here that names the cluster whose login node has a folder that is
not needed."""
SHAPE: Final = Record({"days": Number(above=0), "size": Either((TEXT, Number(above=0)))})
PAUSE_S: Final = 3600.0
"""The time between two looks at a login node, in seconds."""
_DAY_S: Final = 86_400.0
_KIB: Final = 1024
_AT_ONCE: Final = 100
"""How many folders one command measures."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Rules:
    """How much of what is over stays."""

    days: float = 30.0
    size: int = 50 * 2**30

    @classmethod
    def read(cls, section: Mapping[str, Any]) -> "Rules":
        """What a section says in which nothing is wrong."""
        days = float(section.get("days", cls.days))
        return cls(days, _bytes(section["size"]) if "size" in section else cls.size)


def rules(home: Path) -> Rules:
    """What `config.yaml` says; where the file is wrong, as is usual."""
    try:
        return Rules.read(configuration.read(home).get("retention") or {})
    except TrainwayError as error:
        log.warning("the default retention applies: %s", error)
        return Rules()


def errors(section: Mapping[str, Any], path: FieldPath) -> Iterator[FieldError]:
    """What is wrong with a section that has the right shape."""
    if "size" in section:
        try:
            is_some = _bytes(section["size"]) > 0
        except InvalidQuantityError:
            is_some = False
        if not is_some:
            yield invalid((*path, "size"), section["size"], "must be a size, such as 50Gi")


@dataclass(frozen=True)
class Folder:
    """A job of which all is here."""

    id: str
    since: float


class Asks(Protocol):
    """The relay, as far as it matters here."""

    async def ask(self, operation: str, **fields: Any) -> Json:
        """Have something done on the login node."""
        ...


class LoginRetention:
    """Removes folders of one cluster's login node."""

    def __init__(
        self, jobs: Path, cluster: str, rules: Callable[[], Rules], clock: Callable[[], float]
    ) -> None:
        self._jobs = jobs
        self._cluster = cluster
        self._rules = rules
        self._clock = clock
        self._swept_at = float("-inf")

    def mark(self, directory: Path) -> None:
        """Note that all of a job is here."""
        with suppress(OSError):  # then its folder stays there
            write_private(directory / MARK, self._cluster.encode())

    async def sweep(self, relay: Asks, home: str) -> list[str]:
        """Remove what is too old or too much, at most once an hour; the ids of the jobs."""
        if self._clock() - self._swept_at < PAUSE_S:
            return []
        self._swept_at = self._clock()
        folders = await job_threads.run(self._folders)
        if not folders:
            return []
        sizes = await self._sizes(relay, home, folders)
        removed = due(folders, sizes, self._rules(), self._clock())
        for identity in removed:
            try:
                await relay.ask("forget", id=identity)
            except TrainwayError as error:
                log.info("cluster %s: job %s is removed later: %s", self._cluster, identity, error)
                continue
            (self._jobs / identity / MARK).unlink(missing_ok=True)
        return removed

    def _folders(self) -> list[Folder]:
        """The jobs of this cluster of which all is here, the oldest first."""
        found = []
        for mark in self._jobs.glob(f"*/{MARK}"):
            with suppress(OSError, ValueError):
                is_ours = mark.read_text() == self._cluster
                if is_ours and JobDir(mark.parent).read_plan().get("outputs") == COPY:
                    found.append(Folder(mark.parent.name, mark.stat().st_mtime))
        return sorted(found, key=lambda folder: folder.since)

    async def _sizes(self, relay: Asks, home: str, folders: Sequence[Folder]) -> dict[str, int]:
        """The bytes of each folder that is there."""
        sizes: dict[str, int] = {}
        for first in range(0, len(folders), _AT_ONCE):
            paths = [f"{home}/jobs/{folder.id}" for folder in folders[first : first + _AT_ONCE]]
            answer = await relay.ask("command", argv=["du", "-sk", "--", *paths])
            for line in str(answer.get("stdout") or "").splitlines():
                size, _, path = line.partition("\t")
                if size.isdigit():
                    sizes[path.rpartition("/")[2]] = int(size) * _KIB
        return sizes


def due(folders: Sequence[Folder], sizes: Mapping[str, int], rules: Rules, now: float) -> list[str]:
    """The jobs whose folders go: those that are too old, and the oldest until the rest fits."""
    left = sum(sizes.get(folder.id, 0) for folder in folders)
    found = []
    for folder in folders:
        if now - folder.since > rules.days * _DAY_S or left > rules.size:
            found.append(folder.id)
            left -= sizes.get(folder.id, 0)
    return found


def _bytes(amount: Any) -> int:
    return Quantity.parse(str(amount)).nanos // 10**9
