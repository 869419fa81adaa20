"""Nodes that the jobs of this server are kept off, where others administer the nodes.

Slurm and Kubernetes let only their administrators take a node out of use, and others use it too.
What we can do is to ask for other nodes. Which ones are left alone is a file for each place, which
is written before anybody relies on it, and read whenever a job is sent.
"""

import json
import logging
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from trainway.agent.base.pod_status import NODE_SET_ASIDE
from trainway.backends.agents.agent_backend import Clock
from trainway.backends.agents.jobdir import write_private
from trainway.backends.nodes import Drain, Node, is_last
from trainway.backends.pool.nodes import with_drained
from trainway.errors import TrainwayError, UnavailableError
from trainway.jobset.status import moment
from trainway.json_types import Json

log = logging.getLogger(__name__)

_FOLDER: Final = "nodes"
_JOBS: Final = "jobs"
"""The jobs that a node failed which all others still use, since it is the last; a term of it."""
_MOST_JOBS: Final = 100
"""How many of them are remembered for a node, the newest."""
_NODE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,254}")
_FAILED: Final = re.compile(r".*? failed its health check: (?P<why>.*?)(; the job goes on .*)?")


class SickNode(NamedTuple):
    """A node of which a journal says that it failed a health check."""

    name: str
    why: str
    since: datetime | None


def sick_nodes_in(records: Iterable[Mapping[str, Any]]) -> list[SickNode]:
    """Those that records name, in their order. Pure."""
    found = []
    for record in records:
        kind, _, name = str(record.get("object") or "").partition("/")
        if record.get("reason") == NODE_SET_ASIDE and kind == "Node" and _NODE.fullmatch(name):
            said = _FAILED.fullmatch(" ".join(str(record.get("message") or "").split()))
            why = f"its health check failed: {said['why']}" if said else "its health check failed"
            found.append(SickNode(name, why, _time(str(record.get("time") or ""))))
    return found


def _time(text: str) -> datetime | None:
    """When that was; None: it is not said so that one can read it."""
    try:
        found = moment(text)
    except ValueError:
        return None
    return found if found.tzinfo else None


class AvoidedNodes:
    """Those of one place."""

    def __init__(self, home: Path, place: str, clock: Clock) -> None:
        self._path = home / _FOLDER / f"{quote(place, safe='')}.json"
        self._clock = clock

    def terms(self) -> dict[str, Json]:
        """Those that all jobs avoid now: `why`, `by`, `since` and maybe `until` by their names."""
        return {name: terms for name, terms in self._known().items() if _JOBS not in terms}

    def _known(self) -> dict[str, Json]:
        """The same, and those that only some jobs avoid."""
        try:
            found = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            log.warning("%s cannot be read, so no node is avoided: %s", self._path, error)
            return {}
        if not isinstance(found, dict):
            log.warning("%s does not list nodes, so none is avoided", self._path)
            return {}
        now = self._clock().timestamp()
        return {
            name: terms
            for name, terms in found.items()
            if isinstance(terms, dict) and (terms.get("until") or now + 1) > now
        }

    def names(self, job: str = "") -> list[str]:
        """Those that all jobs avoid, and those that this one does, in order."""
        known = self._known().items()
        return sorted(name for name, terms in known if job in terms.get(_JOBS, [job]))

    @property
    def is_empty(self) -> bool:
        """Whether no job avoids any."""
        return not self._known()

    def marked(self, nodes: Iterable[Node]) -> list[Node]:
        """The nodes of the place, with why some are avoided."""
        terms, now = self.terms(), self._clock()
        return [
            with_drained([node], terms, now)[0] if node.name in terms else node for node in nodes
        ]

    def note(self, sick: SickNode, by: str) -> None:
        """Avoid a node that failed a health check, if it is not avoided already."""
        if sick.name not in self.terms():
            self.add(sick.name, Drain(sick.why, by), sick.since)
            log.warning("jobs are kept off node %s: %s", sick.name, sick.why)

    async def note_all(
        self,
        records: Iterable[Mapping[str, Any]],
        job: str,
        listed: Callable[[], Awaitable[list[Node]]],
    ) -> None:
        """Avoid the nodes that failed the health check of a job, as its journal says.

        The last one that could run it is left to other jobs, which may do without what it lacks.
        """
        for sick in sick_nodes_in(records):
            if sick.name in self.names(job):
                continue
            if await self._is_last(sick.name, listed):
                log.warning("node %s is only avoided by job %s: no other is left", sick.name, job)
                self._spare(sick, job)
            else:
                self.note(sick, f"job {job}")

    async def _is_last(self, name: str, listed: Callable[[], Awaitable[list[Node]]]) -> bool:
        try:
            return is_last(name, self.marked(await listed()))
        except (TrainwayError, TimeoutError):
            return False  # then nobody knows, and a sick node is sick

    def _spare(self, sick: SickNode, job: str) -> None:
        known = self._known()
        jobs = [*known.get(sick.name, {}).get(_JOBS, []), job][-_MOST_JOBS:]
        since = (sick.since or self._clock()).timestamp()
        self._write({**known, sick.name: {"why": sick.why, "since": since, _JOBS: jobs}})

    def add(self, node: str, drain: Drain, since: datetime | None = None) -> None:
        """Avoid a node; done when the next server would do so too."""
        terms: Json = {"why": drain.why, "by": drain.by}
        terms["since"] = (since or self._clock()).timestamp()
        if drain.until is not None:
            terms["until"] = drain.until.timestamp()
        self._write({**self._known(), node: terms})

    def remove(self, node: str) -> bool:
        """Avoid it no longer; whether it was."""
        known = self._known()
        if node not in known:
            return False
        self._write({name: terms for name, terms in known.items() if name != node})
        return True

    def keep(self, there: Collection[str]) -> None:
        """Forget all but these: a node that is gone must not be named to a scheduler."""
        known = self._known()
        left = {name: terms for name, terms in known.items() if name in there}
        if left != known:
            self._write(left)

    def _write(self, known: dict[str, Json]) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_private(self._path, json.dumps(known).encode(), is_durable=True)
        except OSError as error:
            raise UnavailableError(
                f"the nodes that are set aside cannot be written to {self._path}: {error.strerror}",
                hint="nothing has changed; make room or mend its permissions, and try again",
            ) from error
