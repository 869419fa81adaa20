"""Sets nodes aside that lose attempts of jobs again and again, where the nodes are ours alone.

It looks whenever an attempt has ended, at what is stored by then. So a server that is killed in
between forgets nothing: the next loss on the node makes it look again.
"""

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from trainway.backends.nodes import Drain, DrainsNodes, HasNodes, is_last
from trainway.backends.registry import Registry
from trainway.engine.background import Background
from trainway.engine.nodes.failures import endings_at, failures_by_node, why_set_aside
from trainway.engine.phases import Phase
from trainway.engine.reading import Reading
from trainway.engine.record import JobRecord
from trainway.engine.recovery.cause import RULES
from trainway.errors import TrainwayError

log = logging.getLogger(__name__)

MOST_JOBS: Final = 500
"""How many of the newest jobs of a backend are looked at, and of those of all backends."""
_BY: Final = "the server"


class NodeWatch:
    """Observes jobs, as `Ledger.observers` do."""

    def __init__(
        self,
        registry: Registry,
        reading: Reading,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._registry = registry
        self._reading = reading
        self._clock = clock
        self.background = Background()

    def created(self, record: JobRecord) -> None:
        """It has not failed yet."""

    def gone(self, record: JobRecord) -> None:
        """What was forgotten tells nothing."""

    def changed(self, before: JobRecord, after: JobRecord) -> None:
        """Look at the nodes that are to blame for the end of an attempt."""
        has_failed = after.phase == Phase.FAILED and not before.is_over
        if after.restarts == before.restarts and not has_failed:
            return
        for node in {str(each["host"]) for each in _blamed(after)}:
            self.background.spawn(self.look(after, node))

    async def look(self, record: JobRecord, node: str) -> None:
        """Set a node aside if it loses too much, and others are left."""
        backend = self._registry.of(record.backend, record.handle_data)
        if not isinstance(backend, DrainsNodes) or not isinstance(backend, HasNodes):
            return
        if not backend.has_own_nodes:
            return
        now, jobs = self._clock(), await self._reading.been_at(record.backend, MOST_JOBS)
        why = why_set_aside(failures_by_node(jobs, record.backend, now).get(node, []), now)
        if not why:
            return
        try:
            nodes = await backend.nodes()
            if any(each.drained for each in nodes if each.name == node):
                return
            if is_last(node, nodes):
                log.warning("%s of %s stays: no other is left; %s", node, backend.name, why)
                return
            await backend.drain(node, Drain(why, _BY))
        except TrainwayError as error:
            log.warning("%s of %s could not be set aside: %s", node, backend.name, error)
        else:
            log.warning("%s of %s is set aside: %s", node, backend.name, why)


def _blamed(record: JobRecord) -> list[dict[str, object]]:
    """The endings for which a node is to blame."""
    blaming = {str(cause) for cause, rule in RULES.items() if rule.blames_node}
    endings = endings_at(record, record.backend)
    return [each for each in endings if each.get("cause") in blaming and each.get("host")]
