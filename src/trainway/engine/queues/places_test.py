from trainway.agent.controllers.gang_queue import Verdict
from trainway.backends.base import Devices
from trainway.engine.queue import QueuedGang
from trainway.engine.queues.places import EnginePlaces
from trainway.queueing.amounts import CPU, Amounts
from trainway.queueing.snapshot import WaitingGang

REQUEST: Amounts = {CPU: 2_000}


class Full:
    """A machine with room for nobody."""

    free: Amounts = {CPU: 1_000}  # noqa: RUF012 - nobody changes it

    def hopeless(self, gang: QueuedGang) -> Verdict | None:
        raise AssertionError(gang)

    def judge(self, gang: QueuedGang) -> Verdict:
        raise AssertionError(gang)

    def take(self, gang: QueuedGang, devices: Devices) -> None:
        raise AssertionError(gang, devices)


def test_only_of_those_who_care_it_is_known_that_they_do_not_fit() -> None:
    def gang(job_id: str) -> QueuedGang:
        raise AssertionError(job_id)

    places = EnginePlaces({"local": Full()}, gang, careless={"c"})
    first, second, careless = (WaitingGang(one, REQUEST, "local") for one in "abc")

    assert not places.is_short(first), "nobody has looked yet"
    assert not places.fits_now(first)
    assert places.is_short(second)
    assert places.fits_now(careless)
    assert not places.is_short(careless)
