"""A gang whose places may become fewer or more while it runs.

A host that is lost takes only its own pods along, as long as the rest can go on without them (see
`controllers/elastic_rules`). Their replacements have no place until the queue finds one, and the
token stays the same, since what runs on goes on. A host that comes back begins from nothing, so
that nothing of what it had counts. A change is in the journal before anything follows from it.

A gang may also be told to do with fewer nodes: it gives up their places when their pods have ended.
"""

from __future__ import annotations

from trainway.agent.base.pod_status import HEALTH_CHECK_FAILED
from trainway.agent.pool.gang_state import GangState
from trainway.agent.pool.growth import limited, minimums, role_of, smaller
from trainway.agent.pool.placement import Placement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from abc import abstractmethod
    from collections.abc import Collection, Mapping
    from typing import Any

    from trainway.agent.base.journal import Journal
    from trainway.agent.base.plan import Plan
    from trainway.agent.pool.gang_context import GangPool
    from trainway.agent.pool.host_reports import HostReports
    from trainway.agent.supervisor.remote_pod import RemotePod
    from trainway.agent.supervisor.remote_pods import GangPods
    from trainway.agent.supervisor.supervisor import Supervisor
    from trainway.agent.transfer.delivery import Deliveries
    from trainway.json_types import Json


class ElasticGang:
    """What a gang does when it loses hosts; one that is not elastic begins anew."""

    former: Mapping[str, str] = {}
    """The hosts of its pods before it had to leave them."""

    if TYPE_CHECKING:
        plan: Plan
        _whole_demand: list[Json]
        queue: str
        token: int
        placement: Placement | None
        journal: Journal
        _state: GangState
        _pool: GangPool[Any]
        _pods: GangPods
        _gone: set[str]
        _had: set[str]
        _reports: HostReports
        _deliveries: Deliveries
        _supervisor: Supervisor

        @abstractmethod
        def _remove(self, name: str) -> None:
            """Have a host clear the job away."""

        @abstractmethod
        def _lose_pods(self, host: str, message: str) -> None:
            """The pods on a host have ended."""

        @abstractmethod
        def _hosts(self) -> set[str]:
            """The hosts of the placement."""

        @abstractmethod
        def start_anew(self, message: str) -> None:
            """Run again elsewhere."""

        @abstractmethod
        def on_turn(self) -> None:
            """Send off all pods whose turn and place have come."""

    @property
    def _minimums(self) -> dict[str, int]:
        """Inside a cluster a gang has all its places or none."""
        return {} if self.queue else minimums(self.plan.roles)

    @property
    def demand(self) -> list[Json]:
        """What it asks for: where it has to do with fewer nodes, no more than those."""
        most, least = self._supervisor.most_nodes, self._minimums
        if most is None or self.placement is not None or not least:
            return self._whole_demand
        return limited(self._whole_demand, least, most)

    @property
    def smaller_demands(self) -> list[list[Json]]:
        """What it may start with where not all of it fits."""
        least = self._minimums
        return smaller(self.demand, least) if least else []

    def has_place(self, pod: str) -> bool:
        """Whether there is a host for the pod of that key."""
        return self.placement is not None and pod in self.placement.hosts

    def lacking(self) -> list[Json]:
        """The pods that wait for a place while the others run, as the demand has them."""
        if self._state is not GangState.PLACED or self.placement is None or not self._minimums:
            return []
        waiting = {self._pods.place_of(pod) for pod in self._pods.waiting()}
        wanted = waiting - self.placement.hosts.keys()
        return [item for item in self._whole_demand if str(item["pod"]) in wanted]

    def _may_lack(self, pod: RemotePod) -> bool:
        """Whether others go on while a pod has no place."""
        return pod.identity.role.name in self._minimums

    def _lose_host(self, name: str, message: str) -> None:
        """A host is gone, and with it what it had."""
        if not self._goes_on_without(name) and self._pods.on(name):
            self.start_anew(message)
        self._lose_pods(name, message)

    def _may_start(self, host: str) -> bool:
        """Whether a pod can begin on a host; with a health check all hosts have to be ready."""
        needed = {host} if self.plan.health_seconds is None else self._hosts() | {host}
        return all(self._deliveries.is_served(name) for name in needed)

    def node_unhealthy(self, uid: str, host: str, why: str) -> None:
        """The health check of a pod has found something wrong with its host.

        Nothing of the gang ran yet, or only this pod was to join it: it goes on without the host,
        which nobody gets before somebody has mended it. The last host of a pool is left to jobs
        that may do without what it lacks, and this one has no other.
        """
        message = f"host {host} failed its health check: {why}"
        if self.queue:  # the hosts of a cluster are those that it has
            self._supervisor.refuse(HEALTH_CHECK_FAILED, message)
            return
        is_alone = {pod.identity.uid for pod in self._pods.on(host)} == {uid}
        if self._pool.is_last(host) and not (is_alone and self._survives({uid})):
            left = "it stays, since no other host is left"
            self._supervisor.refuse(HEALTH_CHECK_FAILED, f"{message}; {left}")
            return
        by = f"job {self.plan.job_name}"
        self._pool.set_aside(host, f"its health check failed: {why}", by)
        self._supervisor.tell("Warning", "HostSetAside", f"{message}; it is set aside")
        if not (is_alone and self._goes_on_without(host)):
            self.start_anew(message)

    def pod_lost(self, uid: str, message: str) -> None:
        """A pod ended through no fault of its own, on a host that is there."""
        if not self._survives({uid}):
            self.start_anew(message)

    def _goes_on_without(self, host: str) -> bool:
        """Give up the places on a host that is gone, if the rest can go on; whether it can."""
        lost = {pod.identity.uid for pod in self._pods.on(host)}
        if self.placement is None or not self._survives(lost):
            return False
        least = self._minimums
        kept = {
            pod: name
            for pod, name in self.placement.hosts.items()
            if name != host or role_of(pod) not in least
        }
        if len(kept) < len(self.placement.hosts):
            self._resize(Placement(kept, self.placement.devices), fresh=())
        return True

    def _shed(self) -> None:
        """Give up the places of nodes that it has to do without, once nothing runs there."""
        if self._state is not GangState.PLACED or self.placement is None:
            return
        used = {pod.place for pod in self._pods.sent()}
        shed = self._supervisor.dismissed_pods() & self.placement.hosts.keys() - used
        if shed:
            hosts = {pod: name for pod, name in self.placement.hosts.items() if pod not in shed}
            self._resize(Placement(hosts, self.placement.devices), fresh=())

    def _survives(self, lost: Collection[str]) -> bool:
        is_placed = self._state is GangState.PLACED and bool(self._minimums)
        over = self._supervisor.finished or self._supervisor.suspended
        return is_placed and not over and self._supervisor.survives(lost)

    def grow(self, added: Placement) -> None:
        """Have places for pods that lacked them."""
        if self._state is not GangState.PLACED or self.placement is None:
            return
        fresh = set(added.hosts.values()) - self._hosts()
        hosts = {**self.placement.hosts, **added.hosts}
        devices = {**self.placement.devices, **added.devices}
        self._resize(Placement(hosts, devices), fresh=fresh, pods=added.hosts.keys())
        for host in sorted(fresh):
            self._gone.discard(host)
            if host in self._had:
                self._remove(host)
            self._had.add(host)
            self._deliveries.send(host, self.token)
        self.on_turn()

    def _resize(
        self, placement: Placement, fresh: Collection[str], pods: Collection[str] = ()
    ) -> None:
        """Have another placement with the same token; `fresh` hosts begin from nothing."""
        fields = placement.record(self.token)
        fields["logs"] = dict(self._reports.begin_pods(pods, fresh))
        fields["resized"] = sorted(fresh)
        self.journal.append("placement", fields, durable=True)
        self.placement = placement
        self._pool.resized(self)
