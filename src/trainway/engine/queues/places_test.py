from trainway.agent.controllers.gang_queue import QUEUED, Verdict, decide, start, wait
from trainway.backends.base import Devices
from trainway.backends.demand import Demand
from trainway.engine.queue import QueuedGang
from trainway.engine.queues.machine_words import MachineWords
from trainway.engine.queues.places import EnginePlaces
from trainway.queueing.amounts import CPU, Amounts
from trainway.queueing.decision import ManagedPolicy
from trainway.queueing.queue_policy import QueuePolicy
from trainway.queueing.snapshot import Snapshot, WaitingGang

REQUEST: Amounts = {CPU: 2_000}


class Full:
    """A machine with room for nobody, where those start all the same who do not care."""

    free: Amounts = {CPU: 1_000}  # noqa: RUF012 - nobody changes it

    def hopeless(self, _gang: QueuedGang) -> Verdict | None:
        return None

    def judge(self, gang: QueuedGang) -> Verdict:
        is_careless = gang.id == "c"
        return start({}) if is_careless else wait(QUEUED, f"{gang.id} needs more")

    def take(self, gang: QueuedGang, devices: Devices) -> None:
        assert gang.id == "c", devices


def test_one_that_does_not_care_starts_though_one_like_it_waits() -> None:
    def gang(job_id: str) -> QueuedGang:
        return QueuedGang(job_id, Demand())

    waiting = [WaitingGang(one, REQUEST, "local", order=one, name=one) for one in "abcd"]
    snapshot = Snapshot(waiting, [], {"default": QueuePolicy("default")}, {"local": None}, 0)
    places = EnginePlaces({"local": Full()}, gang, careless={"c"})

    decisions = decide(waiting, places, ManagedPolicy(snapshot, places, MachineWords()))

    assert [one.id for one, _ in decisions.start] == ["c"]
    assert [(one.id, message) for one, _, message in decisions.waiting] == [
        ("a", "a needs more"),
        ("b", "waits for its turn, after a"),
        ("d", "waits for its turn, after b"),
    ]
