"""The hosts of a pool: who they are, whether they are there, and what is said to all of them.

Each is told of the others, so that one that is cut off can find out, and heard from once a second.
"""

from __future__ import annotations

import time

from trainway.agent.pool import notices
from trainway.agent.pool.lease import BACK, LOST, SILENT, UP, Leases
from trainway.agent.pool.ledger import Capacity
from trainway.agent.transfer.link import Link, LinkListener
from trainway.agent.transfer.ssh_failure import SILENCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from trainway.agent.base.event_loop import EventLoop, Timer
    from trainway.agent.pool.lease import HostLease
    from trainway.agent.transfer.frames import Hello, HostRequest
    from trainway.agent.transfer.link import Archive
    from trainway.agent.transfer.ssh_failure import Failure
    from trainway.json_types import Json


TICK_SECONDS = 0.25
FIRST_SECONDS = 10.0
"""How long a host that was never heard may take before nobody waits for it."""
RENEW_SECONDS = 8.0
"""How long a host may be silent on a connection that lasts before it gets a new one."""
SSH_PORT = 22


class HostsListener:
    """Who wants to know about the hosts. The methods do nothing unless they are overridden."""

    def on_host(self, host: Host, state: str) -> None:
        """A host is up (after each new connection), silent, lost, or back."""

    def on_job_frame(self, host: Host, frame: Json) -> None:
        """A host said something about a job."""

    def on_capacity(self, host: Host) -> None:
        """It is known, or known anew, what a host has."""

    def on_notice(self, host: Host) -> None:
        """A host says that its cloud takes it back."""

    def on_failure(self, host: Host) -> None:
        """There is something new about why a host cannot be reached."""


class Host(LinkListener):
    """One host."""

    def __init__(self, settings: Json, hosts: Hosts, lease: HostLease) -> None:
        self.settings = settings
        self.facts: Json = {}
        """What it said of itself when it was last asked."""
        self.is_ready = False
        """Whether it has answered our hello on this connection."""
        self.failure: Failure | None = None
        self.notice: Json = {}
        """That its cloud takes it back, as it was told itself; empty: it was not."""
        self.retired = False
        """Whether the host is no longer configured, and stays only for the jobs that it has."""
        self._hosts = hosts
        self._lease = lease
        self._told: Hello | None = None
        self._since = hosts.now()
        self.link = hosts.link_of(settings, self)

    @property
    def name(self) -> str:
        """What the pool calls it."""
        return str(self.settings["name"])

    @property
    def state(self) -> str:
        """Whether it is there: connecting, up, silent or lost."""
        return self._lease.state

    @property
    def is_usable(self) -> bool:
        """Whether pods may be placed on it."""
        return self.state == UP and self.is_ready and not self.retired

    @property
    def drained(self) -> str:
        """Why it takes no new pods though it is there; empty: it does."""
        return str(self.drain_terms.get("why") or "")

    @property
    def drain_terms(self) -> Json:
        """Why it is set aside, by whom, since and until when; empty: it is not."""
        return self._hosts.drained.get(self.name, {})

    @property
    def is_new(self) -> bool:
        """Whether its first attempt to answer still goes on."""
        age = self._hosts.now() - self._since
        return not self.facts and self.failure is None and age < FIRST_SECONDS

    @property
    def absence(self) -> str:
        """Why no pods can be placed on it; empty: they can."""
        if self.retired or (self.is_usable and not self.drained):
            return ""
        if self.drained:
            return f"it is set aside: {self.drained}"
        if self.failure is not None:
            return self.failure.message
        return SILENCE if self.facts else "it has not answered yet"

    @property
    def defect(self) -> str:
        """Why it cannot be used until somebody mends it; empty: it can, or it may be soon."""
        failure = self.failure
        return str(failure) if failure is not None and failure.lasting and not self.is_ready else ""

    def try_again(self) -> None:
        """See whether it was mended, for whoever comes now."""
        if self.defect:
            self.failure, self._since = None, self._hosts.now()
            self.link.hurry()

    @property
    def env(self) -> dict[str, str]:
        """Variables that all pods on it get."""
        return {str(key): str(value) for key, value in (self.settings.get("env") or {}).items()}

    @property
    def join(self) -> Json:
        """How pods elsewhere get to those on it, where that is not by SSH."""
        found: Json = self.settings.get("join") or {}
        return found

    @property
    def address(self) -> str:
        """Where other hosts reach it: as configured if it has that address, else as found."""
        given = str(self.settings.get("address") or self.facts.get("address") or "")
        if given and self.settings.get("command"):
            return given
        own = [str(item) for item in self.facts.get("addresses") or []]
        reached = [str(item) for item in (self.facts.get("sshd") or [])[:1]]
        if given in own or not (reached or own):
            return given
        return (reached or own)[0]

    @property
    def port(self) -> int:
        """Where its sshd listens."""
        found = (self.facts.get("sshd") or [])[1:]
        return int(found[0] if found else self.settings.get("port") or SSH_PORT)

    def capacity(self) -> Capacity | None:
        """What it has for jobs; None: nobody knows yet."""
        return Capacity.read(self.facts, self._lent()) if self.facts else None

    def _lent(self) -> Json:
        return {key: self.settings.get(key) for key in ("cpus", "memory", "gpus")}

    def send(self, frame: HostRequest) -> bool:
        """Say something, unless it does not answer."""
        if not self._lease.may_send or not self.is_ready or not self.link.send(frame):
            return False
        self._lease.sent(self._hosts.now())
        return True

    def say_hello(self) -> None:
        """Tell it whom it belongs to and who the others are, if it does not know yet."""
        hello = self._hosts.hello(self)
        if hello != self._told and self.link.send(hello):
            self._told = hello
            if not self.settings.get("command"):
                self._lease.sent(self._hosts.now())

    def ping(self) -> None:
        """Ask whether it is there, if it is time."""
        now = self._hosts.now()
        if self._lease.wants_ping(now) and self.send({"op": "ping"}):
            self._lease.pinged(now)

    def renew(self) -> None:
        """Connect anew if it has been silent for long, which the connection itself has survived."""
        silent_for = self._hosts.now() - self._lease.heard_at
        if self.state == SILENT and self.is_ready and silent_for >= RENEW_SECONDS:
            self.is_ready = False
            self.link.drop()

    def on_connected(self) -> None:
        """The link is there."""
        self._begin()

    def _begin(self) -> None:
        """Ask who it is; its answer makes it usable."""
        self._told = None
        self.is_ready = False
        self.say_hello()

    def on_frame(self, frame: Json) -> None:
        """The host said something, which should make sense."""
        try:
            self._take(frame)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            self._hosts.log(f"{self.name}: {frame.get('event')} is not understood: {error!r}")

    def _take(self, frame: Json) -> None:
        event = frame.get("event")
        if event == "facts":
            self._on_facts(frame)
            return
        if self._lease.heard(self._hosts.now()) and self.is_ready:
            # It was silent, and has not got what was said since.
            self._begin()
        if event == "holdings":
            self.facts["holdings"] = frame.get("others") or []
            self._hosts.listener.on_capacity(self)
        elif event == "notice":
            self.notice = notices.heard(frame)
            self._hosts.listener.on_notice(self)
        elif frame.get("id"):
            self._hosts.listener.on_job_frame(self, frame)
        elif event == "error":
            self._hosts.log(f"{self.name}: {frame.get('op')}: {frame.get('message')}")

    def _on_facts(self, facts: Json) -> None:
        is_news = not self.is_ready
        had, others = self.capacity(), self.facts.get("holdings")
        self.link.settle()
        self.facts = facts
        self.is_ready = True
        self.failure = None
        changes = self._lease.heard(self._hosts.now())
        has = self.capacity()
        is_same = had is not None and has is not None and had.to_json() == has.to_json()
        if not is_same or others != facts.get("holdings"):
            self._hosts.listener.on_capacity(self)
        self._hosts.tell_peers()
        if BACK in changes:
            self._hosts.listener.on_host(self, BACK)
        if is_news:
            self._hosts.log(f"{self.name} is up")
            self.notice = {}  # it says it again, unless it is another machine by now
            notices.watch(self)
            self._hosts.listener.on_host(self, UP)

    def on_down(self, failure: Failure) -> None:
        """The link is gone, or was never there."""
        self.is_ready = False
        known = self.failure
        if known is not None and (failure.vague or known.message == failure.message):
            return
        self.failure = failure
        self._hosts.log(f"{self.name}: {failure}")
        self._hosts.listener.on_failure(self)

    def lose(self) -> None:
        """It counts as lost: whatever it still says on this connection comes too late."""
        self.is_ready = False
        if self.link.is_connected:
            self.link.drop()


class Hosts:
    """All hosts of a pool."""

    def __init__(
        self,
        loop: EventLoop,
        listener: HostsListener,
        owner: str,
        archive: Callable[[], Archive],
        env: Callable[[], Mapping[str, str]],
        *,
        now: Callable[[], float] = time.monotonic,
        log: Callable[[str], None],
    ) -> None:
        self.listener = listener
        self.now = now
        self.log = log
        self._loop = loop
        self._owner = owner
        self.client = ""
        """Who we are, for other people who use the hosts: user@machine."""
        self._archive = archive
        self._env = env
        self._hosts: dict[str, Host] = {}
        self._leases = Leases(now())
        self._timer: Timer | None = None
        self.drained: Mapping[str, Json] = {}
        """Why hosts are set aside, and by whom, since and until when, by their names."""

    def link_of(self, settings: Json, host: Host) -> Link:
        """A connection that is still to be opened."""
        return Link(settings, self._loop, self._archive, host, self._env)

    def all(self) -> list[Host]:
        """Every host, in the order of the configuration."""
        return list(self._hosts.values())

    def get(self, name: str) -> Host | None:
        """The host of that name."""
        return self._hosts.get(name)

    def usable(self) -> list[str]:
        """The names of hosts on which pods may be placed, in the order of the configuration."""
        hosts = self._hosts.values()
        return [host.name for host in hosts if host.is_usable and not host.drained]

    @property
    def are_most_heard(self) -> bool:
        """Whether we hear enough hosts to take a silent one for lost."""
        return self._leases.has_quorum

    def configure(self, settings: Sequence[Json], in_use: Collection[str]) -> None:
        """Have exactly these hosts, and those that are gone for as long as jobs are on them."""
        wanted = {str(item["name"]): item for item in settings}
        for name, host in list(self._hosts.items()):
            if name not in wanted:
                host.retired = True
            elif host.settings != wanted[name]:
                host.link.close()
                del self._hosts[name]
        for name, item in wanted.items():
            known = self._hosts.get(name)
            if known is not None:
                known.retired = False
                known.try_again()
                continue
            lease = self._leases.add(name, self.now(), lasting=bool(item.get("lasting")))
            host = Host(item, self, lease)
            self._hosts[name] = host
            host.link.open()
        self._hosts = {
            **{name: self._hosts[name] for name in wanted},
            **{name: host for name, host in self._hosts.items() if name not in wanted},
        }
        self.let_go(in_use)
        self.tell_peers()
        if self._timer is None:
            self._tick()

    def let_go(self, in_use: Collection[str]) -> list[str]:
        """Leave hosts that are not configured any more and have no job; their names."""
        gone = [name for name, host in self._hosts.items() if host.retired and name not in in_use]
        for name in gone:
            self._hosts.pop(name).link.close()
            self._leases.remove(name)
        return gone

    def hello(self, host: Host) -> Hello:
        """What a host must know about the pool. One that needs no network cannot be asked by it."""
        peers: list[list[str | int]] = [
            [other.address, other.port]
            for other in self._hosts.values()
            if other is not host and other.address and not other.settings.get("command")
        ]
        return {
            "op": "hello",
            "owner": self._owner,
            "client": self.client,
            "peers": peers,
            "votes": self._leases.votes,
        }

    def tell_peers(self) -> None:
        """Let all hosts know of each other."""
        for host in self._hosts.values():
            if host.is_ready:
                host.say_hello()

    def close(self) -> None:
        """Leave them all alone; what runs on them runs on."""
        if self._timer is not None:
            self._timer.cancel()
        for host in self._hosts.values():
            host.link.close()

    def _tick(self) -> None:
        self._timer = self._loop.call_later(TICK_SECONDS, self._tick)
        for name, state in self._leases.check(self.now()):
            host = self._hosts[name]
            self.log(f"{name} is {state}")
            if state == LOST:
                host.lose()
            if state in (SILENT, LOST):
                self.listener.on_host(host, state)
        for host in self._hosts.values():
            host.ping()
            host.renew()
