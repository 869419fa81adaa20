"""The pool agent's socket: like a job agent's, with the journals of many jobs to watch.

{"op": "configure", "hosts": [...], "environ"?: {...}}   which hosts the pool has
{"op": "drain", "host": NAME, "why": TEXT}   let it take no new pods; without a text, let it
{"op": "lend", "files": {...}, "variables": {...}}   credentials for the jobs on all hosts
{"op": "submit", "directory": DIR}       take a job; one that is known already is left alone
{"op": "watch", "id": ID, "from": 0}     its journal, from that record on, until it ends
{"op": "cancel", "id": ID, "grace"?: 0}  answered when none of its processes is left
{"op": "suspend" | "resume", "id": ID}
{"op": "resize", "id": ID, "nodes": 2}   how many nodes an elastic job may have at most
{"op": "leave", "id": ID}                let go of a suspended job; answered when nothing runs
{"op": "forget", "id": ID}               end it, and remove what hosts have of it
{"op": "status"}                         hosts with what is free, the queue, the clusters
{"op": "allocate" | "release" | "start" | "autostop" | "clusters", ...}   see `clusters`
"""

from __future__ import annotations

from trainway.agent.supervisor.control import ControlServer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.base.directory import Directory
    from trainway.agent.base.event_loop import EventLoop
    from trainway.agent.base.journal import Journal
    from trainway.agent.supervisor.control import Answer, Connection
    from trainway.json_types import Json


class PoolSocket(ControlServer):
    """Listens for servers and whoever else asks."""

    request_limit = 4 * 1024 * 1024
    connection_limit = 65_536
    """How many connections there may be: each job that a server watches has one, and the limit of
    open files comes first."""

    def __init__(
        self,
        directory: Directory,
        loop: EventLoop,
        find: Callable[[str], Journal | None],
        handle: Callable[[Json, Answer], None],
    ) -> None:
        self._find = find
        self._over: list[tuple[Journal, Callable[[], object]]] = []
        super().__init__(directory, loop, None, handle)

    def journal_for(self, request: Json) -> Journal | None:
        """That of the job which the client names."""
        return self._find(str(request.get("id")))

    def finish(self, journal: Journal, done: Callable[[], object]) -> None:
        """A job is over: its watchers get the rest of its journal, then it can be closed."""
        self._over.append((journal, done))
        for connection in list(self._connections):
            if connection.journal is journal:
                connection.finish()
        self._check_over()

    def drop(self, connection: Connection) -> None:
        """Forget a connection that was closed."""
        super().drop(connection)
        self._check_over()

    def _check_over(self) -> None:
        watched = [connection.journal for connection in self._connections]
        ready = [item for item in self._over if not any(item[0] is journal for journal in watched)]
        self._over = [item for item in self._over if item not in ready]
        for _, done in ready:
            done()
