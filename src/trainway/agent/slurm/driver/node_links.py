"""The other nodes of a job whose nodes share no files, as its driver sees them.

A feed on each of them brings what the pods there write into the driver's own directory, from where
the relay takes it. The end of a pod counts when all that it left is here.
"""

from __future__ import annotations

import os

from trainway.agent.slurm.files.job_files import TAKEN
from trainway.agent.slurm.srun import join_command
from trainway.agent.transfer.mirror import Mirror
from trainway.agent.transfer.node_link import NodeLink

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.base.directory import Directory
    from trainway.agent.base.event_loop import EventLoop
    from trainway.agent.slurm.driver.step_pods import Ground
    from trainway.json_types import Json

    Done = Callable[[], None]

NO_RECORDS = 1 << 60
"""The position from which no records are sent: the journal is the driver's own, and what others
have of it came with their files."""
AGAIN_SECONDS = 2.0
TRIES = 3
"""How often in a row a link may end before what is on its node counts as lost."""
LOOK_SECONDS = 0.1
PATIENCE = 600.0
"""How long a job that is over waits for a relay that takes what it left."""
LAST_SECONDS = 5.0


class NodeLinks:
    """A link to each of them."""

    def __init__(self, directory: Directory, ground: Ground, loop: EventLoop) -> None:
        self._directory = directory
        self._ground = ground
        self._loop = loop
        self._mirror = Mirror(directory, lambda _record: None)
        self._links: dict[str, NodeLink] = {}
        self._failures: dict[str, int] = {}
        """How often links to nodes have ended since one of them was last drained."""
        self._drains: dict[int, tuple[str, Done]] = {}
        self._count = 0
        self._is_closing = False

    def reach(self, node: str) -> None:
        """Have what is written on a node brought here."""
        if node == self._ground.own or node in self._links or self._is_closing:
            return
        program = [*self._ground.agent, "slurm", "feed", self._directory.path]
        line = join_command(node, self._ground.groups.get(node), program)
        link = NodeLink(node, self._mirror, on_frame=self._on_frame, on_end=self._on_end)
        self._failures.setdefault(node, 0)
        try:
            link.start(self._loop, line, self._ground.environ, {"after": NO_RECORDS})
        except OSError as error:
            self._on_end(link, f"srun: {error.strerror}")
            return
        self._links[node] = link
        for number, (drained, _) in self._drains.items():
            if drained == node:
                link.order({"op": "drain", "number": number})

    def drain(self, node: str, done: Done) -> None:
        """Call back when all that a node has now is here, or cannot be had."""
        link = self._links.get(node)
        if link is None and self._failures.get(node, TRIES) >= TRIES:
            done()
            return
        self._count += 1
        self._drains[self._count] = (node, done)
        if link is not None:
            link.order({"op": "drain", "number": self._count})

    def _on_frame(self, link: NodeLink, frame: Json) -> None:
        if frame["event"] == "drained":
            self._failures[link.node] = 0
            _, done = self._drains.pop(int(frame["number"]), ("", _nothing))
            done()

    def _on_end(self, link: NodeLink, errors: str) -> None:
        """A link ended; pods may still run there, and what they left waits for the next link."""
        if self._links.get(link.node) is link:
            del self._links[link.node]
        self._failures[link.node] += 1
        if not self._is_closing:
            os.write(2, f"node {link.node} does not answer: {errors}\n".encode())
            self._loop.call_later(AGAIN_SECONDS, lambda: self.reach(link.node))
            if self._failures[link.node] < TRIES:
                return
        for number, (node, done) in list(self._drains.items()):
            if node == link.node:
                del self._drains[number]
                done()

    def close(self, done: Done) -> None:
        """Have nothing of the job left on other nodes; call back when that is so."""
        self._is_closing = True
        for link in self._links.values():
            link.order({"op": "clear"})
        self._wait(lambda: not self._links, LAST_SECONDS, done)

    def wait_until_taken(self, done: Done) -> None:
        """Call back when the relay has all that the job left, or does not come."""
        self._wait(lambda: os.path.exists(self._directory.join(TAKEN)), PATIENCE, done)

    def _wait(self, is_so: Callable[[], bool], seconds: float, done: Done) -> None:
        if is_so() or seconds <= 0:
            done()
        else:
            again = lambda: self._wait(is_so, seconds - LOOK_SECONDS, done)  # noqa: E731
            self._loop.call_later(LOOK_SECONDS, again)


def _nothing() -> None:
    """Nobody waits for it any more."""
