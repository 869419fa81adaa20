"""A machine that asks its cloud whether it is taken, and tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import pytest

from trainway.agent.base.event_loop import EventLoop
from trainway.agent.host.metadata_testing import ACTION, MetadataService
from trainway.agent.host.notice_watch import NoticeWatch, address_of
from trainway.agent.host.spot_notice import ADDRESS

if TYPE_CHECKING:
    from trainway.agent.transfer.host_events import SpotNotice

NOTICE = {"event": "notice", "at": "2026-11-18T08:22:00Z", "why": "instance-action terminate"}
REBALANCE = "/latest/meta-data/events/recommendations/rebalance"


class Machine:
    """A machine with a loop, for which time passes when the test says so."""

    def __init__(self, service: MetadataService) -> None:
        self.service = service
        self.loop = EventLoop()
        self.told: list[SpotNotice] = []
        self.watch = NoticeWatch(self.loop, self.told.append, seconds=0.001)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.watch.close()

    def begin(self, cloud: str = "aws") -> None:
        """Be asked by a pool agent."""
        address = self.service.address
        self.watch.begin({"op": "watch_notices", "cloud": cloud, "address": address})

    def until_asked(self, path: str) -> None:
        """Let time pass until the service has been asked once more."""
        count = self.service.asked.count(path)
        while self.service.asked.count(path) <= count:
            self.loop.turn()

    def until_told(self, count: int) -> None:
        """Let time pass until something has been told so often."""
        while len(self.told) < count:
            self.loop.turn()


def test_a_machine_asks_until_it_is_taken_and_tells_everybody_who_asks() -> None:
    with MetadataService().running() as service, Machine(service) as machine:
        machine.begin()
        machine.until_asked(ACTION)
        machine.until_asked(ACTION)
        assert machine.told == []
        service.says[ACTION] = '{"action": "terminate", "time": "2026-11-18T08:22:00Z"}'
        machine.until_told(1)
        machine.begin()  # the next pool agent
        assert machine.told == [NOTICE, NOTICE]


def test_a_risk_is_told_once_and_what_is_certain_after_it() -> None:
    with MetadataService().running() as service, Machine(service) as machine:
        service.says[REBALANCE] = '{"noticeTime": "2026-11-18T08:20:00Z"}'
        machine.begin()
        machine.until_told(1)
        machine.until_asked(REBALANCE)
        machine.until_asked(REBALANCE)
        assert [each.get("risk") for each in machine.told] == [True]
        service.says[ACTION] = '{"action": "terminate", "time": "2026-11-18T08:22:00Z"}'
        machine.until_told(2)
        assert machine.told[1] == NOTICE


@pytest.mark.parametrize(
    "nonsense",
    [
        '{"action": {"a": 1}, "time": []',
        '{"action": ' + "[" * 60_000,
        "[" * 60_000,
        "\0",
        "9" * 5000,
    ],
    ids=["open", "nested", "deep", "nul", "number"],
)
def test_a_service_that_makes_no_sense_is_asked_again(nonsense: str) -> None:
    with MetadataService().running() as service, Machine(service) as machine:
        service.says[ACTION] = nonsense
        machine.begin()
        machine.until_asked(ACTION)
        machine.until_asked(ACTION)
        assert machine.told == []


def test_only_clouds_that_tell_are_asked() -> None:
    machine = Machine(MetadataService())
    with pytest.raises(ValueError, match="'runpod' is no cloud"):
        machine.begin("runpod")


@pytest.mark.parametrize(
    ("text", "address"),
    [("", ADDRESS), ("10.0.0.1:8080", ("10.0.0.1", 8080)), ("[fd00::1]:80", ("fd00::1", 80))],
)
def test_where_is_asked(text: str, address: tuple[str, int]) -> None:
    assert address_of(text) == address


@pytest.mark.parametrize(
    "text", ["10.0.0.1", "10.0.0.1:", ":80", "10.0.0.1:http", "10.0.0.1:70000", "10.0.0.1:²"]
)
def test_an_address_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no address and port"):
        address_of(text)
