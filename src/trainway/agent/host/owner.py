"""A pool agent as its host sees it: the connection to it, and the lease that its pods live on."""

from __future__ import annotations

from trainway.agent.host.lease import GO_ON, PROBE, Lease
from trainway.agent.host.prober import Probe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.host.hosted_job import HostedJob
    from trainway.agent.host.machine import Machine
    from trainway.agent.transfer.connection import Connection
    from trainway.agent.transfer.host_events import HeldByOther
    from trainway.json_types import Json


STEP_SECONDS = 0.5
FENCED = "Fenced"


class Owner:
    """Whose jobs these are."""

    def __init__(
        self, identity: str, machine: Machine, jobs: Callable[[str], list[HostedJob]]
    ) -> None:
        self.id = identity
        self.client = ""
        """The owner, for people: user@machine."""
        self.told_holdings: list[HeldByOther] = []
        """What the owner knows of the places of others."""
        self.lease = Lease(machine.clock.now())
        self.connection: Connection | None = None
        self._machine = machine
        self._jobs = jobs
        self._peers: list[tuple[str, int]] = []
        self._probe: Probe | None = None
        self._stepping = False
        self._pumping = False
        self._turn = 0

    def hello(self, connection: Connection, frame: Json) -> None:
        """It speaks to us over this connection from now on."""
        self.client = str(frame.get("client") or "")
        self._peers = [(str(address), int(port)) for address, port in frame.get("peers") or []]
        votes = int(frame.get("votes") or len(self._peers) + 2)
        self.lease.renew(self._machine.clock.now(), peers=len(self._peers), votes=votes)
        if self.connection is not connection:
            old, self.connection = self.connection, connection
            if old is not None:
                old.close()
            for job in self._jobs(self.id):
                job.unfollow()
            connection.on_room = self.pump
        self._step_later()

    def lost(self, connection: Connection) -> None:
        """A connection to it was closed."""
        if self.connection is connection:
            self.connection = None
            for job in self._jobs(self.id):
                job.unfollow()

    def wake(self) -> None:
        """There is something to send."""
        if not self._pumping and self.connection is not None:
            self._pumping = True
            self._machine.loop.call_soon(self._pump)

    def _pump(self) -> None:
        self._pumping = False
        self.pump()

    def pump(self) -> None:
        """Send what there is room for; jobs take turns."""
        connection = self.connection
        jobs = [job for job in self._jobs(self.id) if job.feed is not None]
        idle = 0
        while connection is not None and connection.has_room and idle < len(jobs):
            self._turn = (self._turn + 1) % len(jobs)
            job = jobs[self._turn]
            frame = job.feed.next() if job.feed is not None else None
            if frame is None:
                idle += 1
            else:
                idle = 0
                connection.stream({**frame, "id": job.id})

    def watch_over(self) -> None:
        """See to it that pods stop when they should; to be called when one was started."""
        self._step_later()

    def _step_later(self) -> None:
        if not self._stepping and self._has_pods():
            self._stepping = True
            self._machine.loop.call_later(STEP_SECONDS, self._step)

    def _has_pods(self) -> bool:
        return any(job.live for job in self._jobs(self.id))

    def _step(self) -> None:
        self._stepping = False
        self._decide()
        self._step_later()

    def _decide(self) -> None:
        decision = self.lease.step(self._machine.clock.now())
        if decision == GO_ON or self.lease.expired:
            return
        if decision == PROBE:
            if self._probe is None:
                self._probe = Probe(self._machine.loop, self._peers, self._on_probe)
            return
        self.lease.expired = True
        message = "the host was cut off from its pool"
        for job in self._jobs(self.id):
            job.kill(FENCED, message)
        if self.connection is not None:
            self.connection.close()  # so that it has to say hello again

    def _on_probe(self, reached: int) -> None:
        self._probe = None
        self.lease.probed(self._machine.clock.now(), reached)
        if self.lease.step(self._machine.clock.now()) != PROBE:
            self._decide()
