import asyncio
import os
import struct
import threading
from collections.abc import Iterable
from pathlib import Path

import pytest

from trainway.engine.ledger import Ledger
from trainway.engine.metrics import job_metrics
from trainway.engine.metrics.recorder import Recorder
from trainway.engine.metrics.report import Report
from trainway.engine.metrics.sources import event_files as module
from trainway.engine.metrics.sources.event_files import PREFIX, EventFiles, event_files
from trainway.engine.metrics.sources.event_records_test import FILE, SIMPLE, event, message, record
from trainway.engine.record import JobRecord, JobSpec
from trainway.engine.testing import World, memory_store, play


def found(ledger: Ledger, recorder: Recorder, output: Path) -> dict[str, list[int | None]]:
    """The steps of all series, after one that has just begun has read to the end."""

    async def scene() -> None:
        ended = asyncio.Event()
        ended.set()
        await EventFiles("a", output, recorder).read(ended)
        await recorder.close()

    asyncio.run(scene())
    metrics = ledger.store.metrics
    return {name: [one.step for one in metrics.points("a", name)] for name in metrics.names("a")}


@pytest.fixture
def ledger() -> Ledger:
    store = memory_store()
    job = JobRecord(id="a", name="demo", namespace="default", kind="JobSet", backend="local")
    store.add(job, JobSpec([], {}, {}, []))
    return Ledger(store)


def test_files_that_grow_and_what_is_no_file(ledger: Ledger, tmp_path: Path) -> None:
    output = tmp_path / "output"
    assert found(ledger, Recorder(ledger), output) == {}

    (output / "runs" / "val").mkdir(parents=True)
    first = output / "runs" / "events.out.tfevents.1"
    first.write_bytes(FILE + event(4, SIMPLE)[:-1])
    (output / "runs" / "val" / "events.out.tfevents.2").write_bytes(event(9, SIMPLE))
    (output / "events.out.tfevents.3").symlink_to(first)
    (output / "away").symlink_to(tmp_path)
    os.mkfifo(output / "events.out.tfevents.4")
    (output / "events.out.tfevents.5").write_bytes(b"no records at all")
    (output / "other").write_bytes(FILE)
    expected: dict[str, list[int | None]] = {"acc": [2], "loss": [1], "val/loss": [9]}
    assert found(ledger, Recorder(ledger), output) == expected

    first.write_bytes(FILE + event(4, SIMPLE) + event(5, SIMPLE))
    assert found(ledger, Recorder(ledger), output) == expected | {"loss": [1, 4, 5]}
    first.unlink()
    assert found(ledger, Recorder(ledger), output) == expected | {"loss": [1, 4, 5]}
    ledger.close()


def test_a_damaged_file_is_read_up_to_there_and_the_others_to_their_ends(
    ledger: Ledger, tmp_path: Path
) -> None:
    recorder = Recorder(ledger)
    damaged = bytearray(event(1, SIMPLE) + event(2, SIMPLE))
    damaged[-1] ^= 1
    (tmp_path / f"{PREFIX}1").write_bytes(bytes(damaged))
    (tmp_path / f"{PREFIX}2").write_bytes(event(7, SIMPLE))
    with (tmp_path / f"{PREFIX}3").open("wb") as huge:
        huge.truncate(1 << 42)
    (tmp_path / f"{PREFIX}4").write_bytes(b"")
    assert found(ledger, recorder, tmp_path) == {"loss": [1, 7]}
    (tmp_path / f"{PREFIX}1").write_bytes(event(1, SIMPLE) + event(2, SIMPLE))
    assert found(ledger, recorder, tmp_path) == {"loss": [1, 7, 2]}


def test_a_file_whose_name_another_one_has_now_is_read_anew(ledger: Ledger, tmp_path: Path) -> None:
    file = tmp_path / f"{PREFIX}1"
    file.write_bytes(FILE)
    assert found(ledger, Recorder(ledger), tmp_path) == {"acc": [2], "loss": [1]}
    file.write_bytes(event(9, SIMPLE))
    assert found(ledger, Recorder(ledger), tmp_path) == {"acc": [2], "loss": [1, 9]}


class CountingRecorder(Recorder):
    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger)
        self.noted: list[int] = []

    async def note(self, job_id: str, reports: Iterable[Report]) -> None:
        taken = list(reports)
        self.noted.append(len(taken))
        await super().note(job_id, taken)


def test_records_without_scalars_are_not_held(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_CHUNK", 1024)
    (tmp_path / f"{PREFIX}1").write_bytes(record(b"") * 64 + event(3, SIMPLE))
    recorder = CountingRecorder(ledger)
    assert found(ledger, recorder, tmp_path) == {"loss": [3]}
    assert recorder.noted == [1, 2]


def test_lines_of_one_chart_have_series_of_their_own(ledger: Ledger, tmp_path: Path) -> None:
    tag = message(1, b"a/loss") + b"\x15" + struct.pack("<f", 0.5)
    for folder in ("a_loss_x", "a/loss_y", "Nov17_host"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / f"{PREFIX}1").write_bytes(event(1, tag))
    names = {"a/loss/x": [1], "a/loss/y": [1], "a/loss": [1]}
    assert found(ledger, Recorder(ledger), tmp_path) == names


def test_no_more_is_looked_at_than_so_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_FILES", 3)
    monkeypatch.setattr(module, "MOST_FOLDERS", 3)
    monkeypatch.setattr(module, "MOST_LEVELS", 1)
    for folder in ("a", "a/deep", "b", "c"):
        (tmp_path / folder).mkdir()
        for number in (1, 2):
            (tmp_path / folder / f"{PREFIX}{number}").touch()
    assert [path for path, _ in event_files(tmp_path)] == [
        f"a/{PREFIX}1",
        f"a/{PREFIX}2",
        f"b/{PREFIX}1",
    ]
    monkeypatch.setattr(module, "MOST_FILES", 100)
    assert len(list(event_files(tmp_path))) == 4
    monkeypatch.setattr(module, "MOST_FOLDERS", 100)
    assert len(list(event_files(tmp_path))) == 6
    monkeypatch.setattr(module, "MOST_ENTRIES", 0)
    assert list(event_files(tmp_path)) == []


def test_a_disk_that_does_not_answer_does_not_keep_a_job_from_ending(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers, asked = threading.Event(), threading.Event()

    def unanswered(_: Path) -> list[tuple[str, int]]:
        asked.set()
        answers.wait()
        return []

    monkeypatch.setattr(module, "event_files", unanswered)
    monkeypatch.setattr(job_metrics, "_LAST_OF_FILES_S", 0.05)

    async def scene(world: World) -> None:
        job = await world.begun(await world.submit())
        job.run()
        await world.until("demo", "Running")
        job.end()
        await world.until("demo", "Succeeded")
        assert asked.is_set()
        assert not answers.is_set()

    try:
        play(scene)
    finally:
        answers.set()
