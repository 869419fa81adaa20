"""A job leaves a cluster for another place; the relay is real, its Slurm is a fake."""

import asyncio
import json
from pathlib import Path

import pytest

from trainway.agent.slurm.files.job_files import LEAVE
from trainway.agent.transfer.file_names import STOPPED, WISH
from trainway.backends.agents.agent_socket import AgentError
from trainway.backends.slurm.testing_slurm import PATIENCE_S, FakeServer, is_type, run
from trainway.errors import UnavailableError
from trainway.json_types import Json


async def begun(server: FakeServer) -> None:
    """Have a job run."""
    await server.submit("a")
    server.slurm.change("1", state="RUNNING", reason="None")
    book = server.driver("a")
    book.append("agent", {"event": "started"})
    book.append("status", {"jobset": {"restarts": 0}, "suspend": False})


async def leave(server: FakeServer) -> None:
    fields = {"id": "a", "directory": str(server.home / "jobs" / "a")}
    async with asyncio.timeout(PATIENCE_S):
        await server.client.ask("leave", **fields)


async def stopped(server: FakeServer) -> None:
    """Play the driver, which is asked to stop its pods and does."""
    async with asyncio.timeout(PATIENCE_S):
        while not server.slurm.jobs["1"].get("asked"):
            await asyncio.sleep(0.05)
    (server.job_directory("a") / "output" / "model").write_text("step 7")
    server.driver("a").append("status", {"jobset": {"restarts": 0}, "suspend": True})
    (server.job_directory("a") / STOPPED).touch()


def journal(server: FakeServer) -> list[Json]:
    text = (server.home / "jobs" / "a" / "journal.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def test_it_is_held_then_given_up_and_all_of_it_is_here(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        await begun(server)
        await asyncio.gather(leave(server), stopped(server))

        assert (server.home / "jobs" / "a" / "output" / "model").read_text() == "step 7"
        assert not server.job_directory("a").exists()
        assert server.slurm.jobs["1"]["state"] == "CANCELLED"
        calls = [" ".join(call.split()[:2]) for call in server.slurm.calls("scontrol r")]
        assert calls == ["scontrol requeuehold"]
        records = journal(server)
        assert (records[-1]["type"], records[-1]["event"]) == ("agent", "left")
        assert "end" not in {record["type"] for record in records}

        await leave(server)  # once more: nothing is there

    run(tmp_path, act)


def test_a_server_that_comes_later_does_not_take_that_for_its_end(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        await begun(server)
        await server.until("a", is_type("status"))
        await server.client.close()
        (server.job_directory("a") / WISH).write_text(LEAVE)
        (server.job_directory("a") / "output" / "model").write_text("step 7")
        server.slurm.change("1", state="CANCELLED", queued=False)

        async with FakeServer(server.slurm, server.home) as second:
            await leave(second)
        assert (server.home / "jobs" / "a" / "output" / "model").read_text() == "step 7"
        assert "end" not in {record["type"] for record in journal(server)}
        assert not server.job_directory("a").exists()

    run(tmp_path, act, "slurmdbd")


def test_one_that_somebody_else_ended_stays_and_has_its_end(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        await begun(server)
        server.slurm.change("1", state="CANCELLED", queued=False)
        with pytest.raises(AgentError, match="the job has ended"):
            await leave(server)
        await server.client.ask("track", id="a", directory=str(server.home / "jobs" / "a"))
        assert (await server.until("a", is_type("end")))[-1]["reason"] == "Cancelled"
        with pytest.raises(AgentError, match="the job has ended"):
            await leave(server)

    run(tmp_path, act, "slurmdbd")


def test_one_that_may_not_be_requeued_stays(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        server.settings = {"requeue": False}
        await begun(server)
        await server.until("a", is_type("status"))
        with pytest.raises(AgentError, match="must not be requeued"):
            await leave(server)
        assert server.slurm.jobs["1"]["state"] == "RUNNING"

    run(tmp_path, act)


def test_a_directory_that_cannot_be_removed_is_tried_again(tmp_path: Path) -> None:
    """What is left of it there would be taken for the job when that comes again."""

    async def act(server: FakeServer) -> None:
        await begun(server)
        broken = server.slurm.directory / "bin" / "rm"
        broken.write_text("#!/bin/sh\necho it is busy >&2\nexit 1\n")
        broken.chmod(0o700)
        with pytest.raises(UnavailableError, match="cannot be removed: it is busy"):
            await asyncio.gather(leave(server), stopped(server))
        broken.unlink()
        await leave(server)

        assert not server.job_directory("a").exists()
        events = [record.get("event") for record in journal(server)]
        assert events.count("left") == 1

    run(tmp_path, act, "slurmdbd")


def test_it_can_come_again(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        await begun(server)
        await asyncio.gather(leave(server), stopped(server))
        before = len(journal(server))

        assert await server.submit("a") == "2"
        assert server.driver("a").last == before  # and how long its logs were
        server.driver("a").append("agent", {"event": "started"})
        records = await server.until("a", is_type("agent", slurmSeq=before + 1))
        assert [record["seq"] for record in records] == list(range(len(records)))

    run(tmp_path, act)
