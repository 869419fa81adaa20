import asyncio
from binascii import b2a_base64
from pathlib import Path

import pytest

from trainway.agent.base.journal import Journal
from trainway.agent.transfer.output_copies import OutputCopies
from trainway.backends.agents import journal
from trainway.backends.slurm.job_copy import JobCopy
from trainway.errors import UnavailableError
from trainway.json_types import Json


def record(seq: int, type_: str, **fields: object) -> Json:
    entry = {"seq": seq, "time": "2026-11-15T12:00:00.000000Z", "type": type_, **fields}
    return {"event": "record", "id": "a", "record": entry}


def text(data: bytes) -> str:
    return b2a_base64(data, newline=False).decode()


def log(offset: int, data: bytes) -> Json:
    name = "node-0-0.node.0.log"
    return {"event": "log", "id": "a", "file": name, "offset": offset, "data": text(data)}


def output(offset: int, data: bytes, *, last: bool) -> Json:
    fields = {"event": "output", "path": "output/model", "size": 8, "mtime_ns": 10**18, "mode": 420}
    return {**fields, "offset": offset, "data": text(data), "last": last}


@pytest.fixture
def copy(tmp_path: Path) -> JobCopy:
    return JobCopy("a", tmp_path)


def records(path: Path) -> list[Json]:
    return [dict(item) for item in journal.read(path / "journal.jsonl", -1)]


def test_records_get_numbers_of_their_own_and_keep_their_time(
    copy: JobCopy, tmp_path: Path
) -> None:
    copy.submitted("12")
    copy.take(record(0, "agent", event="started", pid=1))
    copy.take(record(1, "event", reason="X"))
    copy.take(record(1, "event", reason="X"))
    first, second, third = records(tmp_path)
    assert [item["seq"] for item in (first, second, third)] == [0, 1, 2]
    assert (first["message"], first["slurmJob"]) == ("Slurm job 12", "12")
    assert (second["event"], second["slurmSeq"]) == ("started", 0)
    assert second["time"] == "2026-11-15T12:00:00.000000Z"
    assert third["slurmSeq"] == 1


def test_another_server_goes_on_from_what_is_here(copy: JobCopy, tmp_path: Path) -> None:
    copy.submitted("12")
    copy.take(record(0, "event", reason="X"))
    copy.take(log(0, b"one\n"))
    copy.take(output(0, b"12345678", last=True))
    copy.release()
    again = JobCopy("a", tmp_path)
    assert again.memory.number == "12"
    assert again.position() == {
        "after": 0,
        "logs": {"node-0-0.node.0.log": 4},
        "outputs": {"output/model": [8, 10**18]},
    }
    again.submitted("12")
    assert len(records(tmp_path)) == 2


def test_logs_and_output_are_whole_though_files_are_closed_in_between(
    copy: JobCopy, tmp_path: Path
) -> None:
    assert copy.take(log(0, b"one\n"))
    copy.release()
    assert not copy.take(log(100, b"much later\n"))
    assert copy.take(log(4, b"two\n"))
    assert (tmp_path / "logs/node-0-0.node.0.log").read_bytes() == b"one\ntwo\n"
    copy.take(output(0, b"1234", last=False))
    receiving = [copy.is_receiving]
    copy.take(output(4, b"5678", last=True))
    receiving.append(copy.is_receiving)
    assert receiving == [True, False]
    assert (tmp_path / "output/model").read_bytes() == b"12345678"


def test_output_that_leads_elsewhere_is_refused(copy: JobCopy, tmp_path: Path) -> None:
    copy.take({**output(0, b"x", last=True), "path": "output/../../x"})
    assert [item["reason"] for item in records(tmp_path)] == ["OutputNotCopied"]


def test_logs_that_lead_elsewhere_are_refused(copy: JobCopy, tmp_path: Path) -> None:
    assert copy.take({**log(0, b"x"), "file": "../../x.log"})
    assert list(tmp_path.glob("**/*.log")) == []


def test_nothing_is_added_after_the_end(copy: JobCopy, tmp_path: Path) -> None:
    copy.take(record(0, "end", succeeded=True))
    copy.take({"event": "slurm", "final": True, "job": "1", "state": "FAILED"})
    copy.take(record(1, "event", reason="late"))
    assert [item["type"] for item in records(tmp_path)] == ["end"]


def test_watchers_get_what_was_and_what_comes(copy: JobCopy) -> None:
    async def watched() -> list[int]:
        seen: list[int] = []
        copy.take(record(0, "event", reason="old"))
        copy.take(record(1, "event", reason="old too"))

        async def collect() -> None:
            async for update in copy.watch(0):
                seen.extend(int(item["seq"]) for item in update.records)

        task = asyncio.create_task(collect())
        await asyncio.sleep(0)
        copy.take(record(2, "event", reason="new"))
        copy.take(record(3, "end", succeeded=True))
        await asyncio.wait_for(task, 60)
        return seen

    assert asyncio.run(watched()) == [1, 2, 3]


def test_watchers_are_told_that_nothing_comes(copy: JobCopy) -> None:
    async def watched() -> None:
        async def collect() -> None:
            async for _ in copy.watch(-1):
                pass

        task = asyncio.create_task(collect())
        await asyncio.sleep(0)
        copy.interrupt(UnavailableError("away"))
        with pytest.raises(UnavailableError, match="away"):
            await asyncio.wait_for(task, 60)

    asyncio.run(watched())


def test_a_job_that_is_gone_is_lost(copy: JobCopy, tmp_path: Path) -> None:
    copy.submitted("12")
    copy.lose("job a is not on this cluster")
    end = records(tmp_path)[-1]
    assert (end["type"], end["reason"]) == ("end", "Lost")
    assert end["message"] == "job a is not on this cluster"
    assert copy.is_over


def test_a_history_that_cannot_be_written_down_is_not_sent(
    copy: JobCopy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy.add([("agent", {"event": "started"})])
    copy.take(log(0, b"one\n"))
    with monkeypatch.context() as full:
        full.setattr(Journal, "flush", lambda _self: False)
        with pytest.raises(UnavailableError, match="cannot be written"):
            copy.history()
    assert copy.history() == (tmp_path / "journal.jsonl").read_bytes()
    assert records(tmp_path)[-1]["logs"] == {"node-0-0.node.0.log": 4}
    assert copy.history() == (tmp_path / "journal.jsonl").read_bytes()


def test_a_job_that_departs_has_all_here_unless_there_was_no_room(
    copy: JobCopy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*_: object) -> None:
        raise OSError(28, "No space left on device")

    async def departed() -> bool:
        copy.depart()
        copy.take(output(0, b"12345678", last=True))
        copy.take({"event": "slurm", "id": "a", "final": True, "state": "CANCELLED"})
        return await asyncio.wait_for(copy.fetched(), 10)

    copy.submitted("12")
    with monkeypatch.context() as full:
        full.setattr(OutputCopies, "take", no_room)
        assert asyncio.run(departed()) is False
    assert asyncio.run(departed()) is True
    copy.lose("it is gone")
    assert "end" not in {item["type"] for item in records(tmp_path)}
    assert copy.stay()
    copy.lose("it is gone")
    assert records(tmp_path)[-1]["type"] == "end"
