from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from trainway.agent.host.published_holdings import (
    PROCESS_LIMIT,
    MalformedError,
    Published,
    PublishedHolding,
    decode,
)

if TYPE_CHECKING:
    from trainway.agent.transfer.host_events import HeldByOther

HELD: HeldByOther = {
    "key": "j1",
    "owner": "pool-1",
    "client": "ann@laptop",
    "name": "job train",
    "cpus": 2000,
    "memory": 1024,
    "gpus": {"0": 1000},
}
DAEMON, POD = (100, 5000), (200, 6000)


def published() -> Published:
    return Published("boot-1", DAEMON, [PublishedHolding(HELD, [POD])])


def text(**changes: Any) -> bytes:
    """What an agent writes, with something else in place of some fields."""
    return json.dumps({**json.loads(published().encode()), **changes}).encode()


def held(**changes: Any) -> bytes:
    """The same with a change of its holding."""
    return text(holdings=[{**HELD, "processes": [POD], **changes}])


def test_what_is_written_is_read() -> None:
    read = decode(published().encode())
    assert read.machine == "boot-1"
    assert read.daemon == DAEMON
    assert read.living(lambda *_: True) == [HELD]


@dataclass(frozen=True)
class Case:
    name: str
    text: bytes


@pytest.mark.parametrize(
    "case",
    [
        Case("nothing", b""),
        Case("no JSON", b"{"),
        Case("no UTF-8", b'{"version": "\xff"}'),
        Case("a list", b"[]"),
        Case("a number", b"1"),
        Case("deep", b"[" * 200_000),
        Case("a long number", b'{"version": ' + b"9" * 200_000 + b"}"),
        Case("a fraction", text(daemon=[1.5, 1])),
        Case("no number", b'{"version": NaN}'),
        Case("another version", text(version=2)),
        Case("a machine that is a list", text(machine=[])),
        Case("holdings that are an object", text(holdings={})),
        Case("a holding that is a text", text(holdings=["x"])),
        Case("no daemon", text(daemon=None)),
        Case("a daemon without a start", text(daemon=[1])),
        Case("all processes", text(daemon=[-1, 1])),
        Case("our own group", text(daemon=[0, 1])),
        Case("less than nothing", held(cpus=-1)),
        Case("a truth", held(cpus=True)),
        Case("too much", held(memory=1 << 60)),
        Case("an amount in words", held(cpus="1")),
        Case("GPUs in a list", held(gpus=["0"])),
        Case("a name that is a number", held(name=1)),
        Case("processes that are a text", held(processes="1")),
        Case("a process that is a text", held(processes=["1"])),
    ],
    ids=lambda case: case.name,
)
def test_a_text_of_another_form_is_malformed(case: Case) -> None:
    with pytest.raises(MalformedError):
        decode(case.text)


def test_a_name_may_not_write_to_the_terminal_of_who_reads_it() -> None:
    (read,) = decode(held(name="\x1b[2Jgone\n\ud800" + "x" * 5000)).living(lambda *_: True)
    assert read["name"].startswith("?[2Jgone??xxx")
    assert len(read["name"]) == 200


def test_what_is_held_counts_while_its_agent_or_one_of_its_processes_runs() -> None:
    read = decode(published().encode())
    running = {DAEMON, POD}

    def living() -> list[HeldByOther]:
        return read.living(lambda *process: process in running)

    assert living() == [HELD]
    running.remove(DAEMON)
    assert living() == [HELD]
    running.remove(POD)
    assert living() == []
    running.add(POD)
    assert living() == [], "another process that got the number of one that has ended"


def test_a_holding_has_a_few_processes_whoever_writes_it() -> None:
    many = [[number, 1] for number in range(1, 1000)]
    asked: list[int] = []

    def is_running(pid: int, _started: int) -> bool:
        asked.append(pid)
        return False

    assert decode(held(processes=many)).living(is_running) == []
    assert len(asked) == 1 + PROCESS_LIMIT
