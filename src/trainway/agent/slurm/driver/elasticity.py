"""An elastic job in an allocation: it loses nodes, gives some up, and gets others.

What it has too few of it asks Slurm for, as `annexes`. What it has to do without it gives back when
their pods have ended: a node of its own allocation by making that smaller (`scontrol update`), and
an annex by letting it go. The node of the driver stays always. A change is in the journal before
anything follows from it.
"""

from __future__ import annotations

import os

from trainway.agent.base.pod_status import NODE_SET_ASIDE
from trainway.agent.slurm.driver.annexes import Annexes
from trainway.agent.slurm.files.job_files import NODE_LIMIT
from trainway.agent.slurm.hosts import address_in
from trainway.agent.slurm.sick_nodes import add_sick_node, is_of_node
from trainway.agent.supervisor.recovery import HOST_LOST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import Any

    from trainway.agent.base.journal import Journal
    from trainway.agent.base.records import PlacementRecord
    from trainway.agent.slurm.commands import Commands, Result
    from trainway.agent.slurm.driver.step_pods import Ground, StepPods
    from trainway.agent.slurm.fencing import DriverLease
    from trainway.agent.supervisor.remote_pod import RemotePod
    from trainway.agent.supervisor.supervisor import Supervisor

SHRINK_LOOKS = 15
"""How many looks it takes until Slurm is asked again for what it has refused."""
NOT_GROWN = "NotGrown"


class Elasticity:
    """The size of one job, as its driver sees to it."""

    def __init__(
        self,
        lease: DriverLease,
        ground: Ground,
        journal: Journal,
        commands: Commands,
        pods: StepPods,
        supervisor: Supervisor,
    ) -> None:
        self._lease = lease
        self._ground = ground
        self._journal = journal
        self._commands = commands
        self._pods = pods
        self._supervisor = supervisor
        self._nodes = set(ground.places.values()) | {ground.own}
        """The nodes of the allocation itself, as far as they are known to be there."""
        self._pause = 0
        self._is_shrinking = False
        self._has_begun = False
        self._surveys = 0
        self._refused = ""
        self._is_elastic = any(role.job.minimum is not None for role in supervisor.plan.roles)
        self._annexes: Annexes | None = None
        if ground.annex and self._is_elastic:
            self._annexes = Annexes(lease, commands, ground.annex, ground.agent, self._tell_refused)

    def record(self) -> PlacementRecord:
        """Where the pods of the job are."""
        ground = self._ground
        placement: PlacementRecord = {
            "token": str(self._lease.token),
            "hosts": dict(ground.places),
            "job": ground.environ.get("SLURM_JOB_ID", ""),
        }
        if ground.groups:
            placement["groups"] = dict(ground.groups)
        if ground.jobs:
            placement["jobs"] = dict(ground.jobs)
        return placement

    def begin(self) -> None:
        """Write down where the job is; its size is looked after from the next beat on."""
        self._has_begun = True
        self._journal.append("placement", self.record(), durable=True)
        if self._annexes is not None:
            self._annexes.begin()

    def look(self) -> None:
        """See how large the job is to be, and do what is due for that."""
        is_idle = self._supervisor.finished or self._supervisor.suspended
        if not self._is_elastic or not self._has_begun or is_idle:
            return
        self._take_limit()
        self._shed()
        self._grow()

    def close(self, done: Callable[[], None]) -> None:
        """Have no more nodes come; called back when Slurm knows."""
        if self._annexes is None:
            done()
        else:
            self._annexes.close(done)

    def is_annex(self, pod: RemotePod) -> bool:
        """Whether a pod runs outside the allocation of the driver."""
        return pod.host in self._ground.jobs

    def goes_on_without(self, pod: RemotePod, why: str) -> bool:
        """Give up the node of a pod, if that is one of an elastic job and the others go on."""
        is_elastic = pod.identity.role.job.minimum is not None
        if not is_elastic or not self._supervisor.survives({pod.identity.uid}):
            return False
        self._supervisor.tell("Warning", HOST_LOST, f"node {pod.host} was lost: {why}")
        self._drop({key for key, node in self._ground.places.items() if node == pod.host})
        return True

    def does_without_sick(self, pod: RemotePod, why: str) -> bool:
        """Set a node aside that failed the health check; whether the job just goes on.

        A job that does not begins anew elsewhere, which is no restart that counts.
        """
        add_sick_node(self._lease.directory, pod.host, why)
        self._ground.sick.add(pod.host)
        self.tell_sick(pod, why, "; the job goes on without it")
        return self.goes_on_without(pod, why)

    def tell_sick(self, pod: RemotePod, why: str, then: str = "") -> None:
        """Say that a node failed the health check; whoever reads it keeps other jobs off it."""
        shared = "" if self._ground.is_apart else self._lease.directory.path
        about = f"Node/{pod.host}" if is_of_node(why, shared) else ""
        said = f"node {pod.host} failed its health check: {why}{then}"
        self._supervisor.tell("Warning", NODE_SET_ASIDE, said, about)

    def _take_limit(self) -> None:
        """Do with as many nodes as the relay has put down."""
        try:
            nodes = int(self._lease.directory.read(NODE_LIMIT))
        except (OSError, ValueError):
            return
        if nodes != self._supervisor.most_nodes:
            self._supervisor.handle({"op": "resize", "nodes": nodes}, _ignore)

    def _shed(self) -> None:
        """Give back the nodes that the job has to do without, once nothing runs there."""
        used = self._pods.places_in_use()
        dismissed = self._supervisor.dismissed_pods() & self._ground.places.keys() - used
        if dismissed:
            self._drop(dismissed)
        self._pause = max(0, self._pause - 1)
        kept = (set(self._ground.places.values()) - self._ground.jobs.keys()) | {self._ground.own}
        limit = self._supervisor.most_nodes
        if limit is not None and kept < self._nodes and not (self._pause or self._is_shrinking):
            self._shrink(kept)

    def _shrink(self, kept: set[str]) -> None:
        """Have Slurm make the allocation smaller."""

        def on_result(result: Result) -> None:
            self._is_shrinking = False
            if result.ok:
                self._nodes = kept
                return
            self._pause = SHRINK_LOOKS
            os.write(2, f"the allocation stays as it is: {result.stderr}\n".encode())

        self._is_shrinking = True
        names = ",".join(sorted(kept))
        argv = ("scontrol", "update", f"JobId={self._lease.token.job}", f"NodeList={names}")
        self._commands.run(argv, on_result, cwd=self._lease.directory.path)

    def _drop(self, keys: Collection[str]) -> None:
        """Have no places for these pods any more."""
        places = self._ground.places
        gone = {places[key] for key in keys}
        self._ground.places = {key: node for key, node in places.items() if key not in keys}
        numbers = {self._ground.jobs.pop(node) for node in gone if node in self._ground.jobs}
        self._write()
        if self._annexes is not None:
            for number in numbers:
                self._annexes.give_back(number)

    def _write(self) -> None:
        placement = self.record()
        placement["resized"] = []
        self._journal.append("placement", placement, durable=True)

    def _lacking(self) -> list[str]:
        """The places that pods wait for, in their order."""
        waiting = {self._pods.place_of(pod) for pod in self._pods.waiting()}
        return sorted(waiting - self._ground.places.keys() - self._supervisor.dismissed_pods())

    def _grow(self) -> None:
        if self._annexes is None:
            return
        for number, node in self._annexes.arrived():
            self._survey(self._annexes, number, node)
        taken = set(self._ground.places.values()) | self._ground.sick
        self._annexes.want(len(self._lacking()) - self._surveys, taken)

    def _survey(self, annexes: Annexes, number: str, node: str) -> None:
        """Find out where a node is, before anything is started there."""

        def on_result(result: Result) -> None:
            self._surveys -= 1
            lacking = self._lacking()
            if not result.ok or not lacking or node in self._ground.places.values():
                annexes.give_back(number)
                return
            self._ground.addresses = {
                **self._ground.addresses,
                node: address_in(result.stdout, node),
            }
            self._ground.places = {**self._ground.places, lacking[0]: node}
            self._ground.jobs[node] = number
            annexes.use(number, node)
            self._write()
            self._pods.wake()
            self._supervisor.wake()

        self._surveys += 1
        self._commands.run(("scontrol", "--oneliner", "show", "node", node), on_result)

    def _tell_refused(self, why: str) -> None:
        if why != self._refused:
            self._refused = why
            self._supervisor.tell("Warning", NOT_GROWN, f"Slurm gives the job no more nodes: {why}")


def _ignore(_answer: Mapping[str, Any]) -> None:
    """Nobody asked."""
