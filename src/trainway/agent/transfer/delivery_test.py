from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.transfer import delivery
from trainway.agent.transfer.delivery import Deliveries, Parcel
from trainway.json_types import Json

LARGE = "x" * 1025
NAME = sha256(LARGE.encode()).hexdigest()


class Wire:
    """Hosts that take everything, or nothing, or are slow."""

    def __init__(self) -> None:
        self.sent: list[Json] = []
        self.up = True
        self.full = False
        self.callbacks: list[Callable[[], object]] = []

    def send(self, host: str, frame: Mapping[str, object]) -> bool:
        assert host == "a"
        if self.up:
            self.sent.append(dict(frame))
        return self.up

    def backlog(self, host: str) -> int:
        assert host == "a"
        return delivery.BACKLOG if self.full else 0

    def when_room(self, host: str, callback: Callable[[], object]) -> None:
        assert host == "a"
        self.callbacks.append(callback)

    @property
    def ops(self) -> list[str]:
        return [frame["op"] for frame in self.sent]


class World:
    def __init__(
        self,
        objects: list[Json],
        files: list[tuple[Any, bytes]] | None = None,
        folder: Path | None = None,
    ) -> None:
        self.wire = Wire()
        self.over: list[str] = []
        self._files = files or []
        plan = {"id": "job", "objects": objects, "demand": [], "name": "n"}
        directory = None if folder is None else Directory(str(folder))
        self.deliveries = Deliveries(plan, self.wire, self, self.over.append, ["old"], directory)

    def files_for(self, host: str) -> Iterator[tuple[Any, bytes]]:
        assert host == "a"
        yield from self._files

    def size_for(self, host: str) -> int:
        assert host == "a"
        return sum(len(data) for _, data in self._files)


def config(**data: str) -> Json:
    return {"kind": "ConfigMap", "metadata": {"name": "c"}, "data": data}


def test_large_values_travel_on_their_own() -> None:
    parcel = Parcel({"id": "job", "demand": [1], "objects": [config(small="s", large=LARGE)]})
    assert parcel.plan["objects"][0]["data"] == {"small": "s", "large": {"$blob": NAME}}
    assert parcel.blobs == {NAME: LARGE.encode()}
    assert set(parcel.plan) == {"id", "objects"}


def test_a_small_job_goes_out_at_once() -> None:
    world = World([config(small="s")])
    world.deliveries.send("a", 3)
    assert world.wire.ops == ["job"]
    assert world.wire.sent[0]["token"] == 3
    assert (world.over, world.deliveries.is_served("a")) == (["a"], True)


def test_only_missing_blobs_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "PIECE", 1000)
    world = World([config(large=LARGE, other="y" * 2000)])
    world.deliveries.send("a", 1)
    assert world.wire.ops == ["have"]
    assert not world.deliveries.is_served("a")
    world.deliveries.on_missing("a", [NAME])
    assert world.wire.ops == ["have", "blob", "blob", "job"]
    pieces = [(frame["offset"], frame["last"]) for frame in world.wire.sent[1:3]]
    assert pieces == [(0, False), (1000, True)]
    assert world.deliveries.is_served("a")


def test_output_is_put_between_two_answers() -> None:
    world = World([], [({"path": "output/x", "offset": 0, "last": True}, b"abc")])
    world.deliveries.send("a", 1)
    assert world.wire.ops == ["job", "put", "job"]
    assert world.wire.sent[1] == {
        "op": "put", "id": "job", "path": "output/x", "offset": 0, "last": True, "data": "YWJj",
    }  # fmt: skip
    world.deliveries.on_answer("a")
    world.deliveries.repeat("a", 1)
    assert world.wire.ops[3:] == ["job", "put", "job"], "one answer is not enough"
    world.deliveries.on_answer("a")
    world.deliveries.on_answer("a")
    world.deliveries.repeat("a", 1)
    assert len(world.wire.ops) == 6


def test_it_is_told_how_far_the_output_is_on_its_way() -> None:
    pieces: list[tuple[Any, bytes]] = [
        ({"path": "output/x", "offset": 0, "last": False}, b"abc"),
        ({"path": "output/x", "offset": 3, "last": True}, b"de"),
        ({"path": "output/link", "link": "x", "offset": 0, "last": True}, b""),
    ]
    world = World([], pieces)
    told: list[tuple[str, int, int]] = []
    world.deliveries.on_progress = lambda *progress: told.append(progress)
    world.deliveries.send("a", 1)
    assert told == [("a", 3, 5), ("a", 5, 5)]


def test_a_slow_host_is_waited_for() -> None:
    world = World([], [({"path": "output/x", "offset": 0, "last": True}, b"abc")])
    world.wire.full = True
    world.deliveries.send("a", 1)
    assert (world.wire.ops, world.over) == ([], [])
    world.wire.full = False
    world.wire.callbacks.pop()()
    assert (world.wire.ops, world.over) == (["job", "put", "job"], ["a"])


def test_what_is_left_of_an_earlier_round_stops() -> None:
    world = World([])
    world.wire.full = True
    world.deliveries.send("a", 1)
    world.deliveries.repeat("a", 1)
    world.wire.full = False
    for callback in world.wire.callbacks:
        callback()
    assert world.wire.ops == ["job"]


def test_a_host_that_is_away_gets_it_later() -> None:
    world = World([])
    world.wire.up = False
    world.deliveries.send("a", 1)
    assert not world.deliveries.is_served("a")
    world.wire.up = True
    world.deliveries.repeat("a", 1)
    assert (world.wire.ops, world.deliveries.is_served("a")) == (["job"], True)


def test_hosts_of_an_earlier_pool_agent_are_served() -> None:
    world = World([])
    assert world.deliveries.is_served("old")
    world.deliveries.repeat("old", 1)
    assert world.wire.ops == []
    world.deliveries.begin_anew()
    assert not world.deliveries.is_served("old")


def test_files_of_the_job_are_sent_in_pieces(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(delivery, "PIECE", 3)
    (tmp_path / "blobs").mkdir()
    large, empty = b"sevenxx", b""
    names = [sha256(data).hexdigest() for data in (large, empty)]
    for name, data in zip(names, (large, empty), strict=True):
        (tmp_path / "blobs" / name).write_bytes(data)
    values = {
        "large": {"$file": names[0], "size": len(large)},
        "empty": {"$file": names[1], "size": 0},
    }
    world = World(
        [{"kind": "ConfigMap", "metadata": {"name": "c"}, "binaryData": values}], folder=tmp_path
    )
    told: list[tuple[str, int, int]] = []
    world.deliveries.on_progress = lambda *progress: told.append(progress)
    world.deliveries.send("a", 1)
    world.deliveries.on_missing("a", names)

    have, *pieces, job = world.wire.sent
    assert have == {"op": "have", "id": "job", "blobs": sorted(names)}
    assert [(piece["offset"], piece["data"], piece["last"]) for piece in pieces] == [
        (0, "c2V2", False), (3, "ZW54", False), (6, "eA==", True), (0, "", True),
    ]  # fmt: skip
    assert job["plan"]["objects"][0]["binaryData"] == values
    assert told == [("a", 3, 7), ("a", 6, 7), ("a", 7, 7)]

    world.deliveries.clear()
    assert list((tmp_path / "blobs").iterdir()) == []


def test_a_file_that_is_gone_leaves_it_to_the_host_to_refuse_the_job(tmp_path: Path) -> None:
    values = {"large": {"$file": NAME, "size": 5}}
    world = World([{"kind": "ConfigMap", "metadata": {}, "binaryData": values}], folder=tmp_path)
    world.deliveries.send("a", 1)
    world.deliveries.on_missing("a", [NAME])
    assert world.wire.ops == ["have", "job"]


@pytest.mark.parametrize("end", ["clear", "begin_anew", "drop"])
def test_what_is_on_its_way_stops_with_the_job(tmp_path: Path, end: str) -> None:
    (tmp_path / "blobs").mkdir()
    (tmp_path / "blobs" / NAME).write_bytes(b"x")
    values = {"large": {"$file": NAME, "size": 1}}
    world = World([{"kind": "ConfigMap", "metadata": {}, "binaryData": values}], folder=tmp_path)
    told: list[tuple[str, int, int]] = []
    world.deliveries.on_progress = lambda *progress: told.append(progress)
    world.deliveries.send("a", 1)
    world.wire.full = True
    world.deliveries.on_missing("a", [NAME])
    getattr(world.deliveries, end)(*["a"] * (end == "drop"))
    world.wire.full = False
    for callback in world.wire.callbacks:
        callback()
    world.deliveries.on_missing("a", [NAME])
    assert (world.wire.ops, told) == (["have"], [])
