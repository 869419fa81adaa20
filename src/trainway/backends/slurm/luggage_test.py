"""A job comes to a cluster with what it did elsewhere; the relay is real, its Slurm is a fake."""

import os
from pathlib import Path

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.base.journal import Journal
from trainway.backends.agents.agent_socket import AgentError
from trainway.backends.slurm.testing_slurm import FakeServer, is_type, run

LOG = "node-0-0.node.0.log"
MODEL = os.urandom(500_000)


def moved_job(server: FakeServer) -> Path:
    """The directory of a job that another place has let go of."""
    path = server.job("a")
    (path / "output" / "deep").mkdir(parents=True)
    (path / "logs").mkdir()
    (path / "output" / "model").write_bytes(MODEL)
    (path / "output" / "deep" / "empty").write_bytes(b"")
    (path / "output" / "last").symlink_to("model")
    (path / "logs" / LOG).write_bytes(b"before\n")
    book = Journal(Directory(str(path)), lambda: 0.0)
    book.append("agent", {"event": "started"})
    book.append("status", {"jobset": {"restarts": 0}, "suspend": True})
    book.append("agent", {"event": "left"})
    book.close()
    return path


def test_its_journal_and_its_output_are_there_before_slurm_has_it(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        here, there = moved_job(server), server.job_directory("a")
        assert await server.submit("a") == "1"

        assert (there / "output" / "model").read_bytes() == MODEL
        assert (there / "output" / "deep" / "empty").read_bytes() == b""
        assert (there / "output" / "last").readlink() == Path("model")
        times = [(path / "output" / "model").stat().st_mtime_ns for path in (here, there)]
        assert times[0] == times[1]
        book = server.driver("a")
        assert [record["seq"] for record in book.records] == [0, 1, 2, 3]
        assert book.records[-1]["logs"] == {LOG: len(b"before\n")}

        assert await server.submit("a") == "1"
        assert server.driver("a").last == 3
        assert len(server.slurm.calls("sbatch")) == 1

    run(tmp_path, act)


def test_a_new_job_may_begin_with_output(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        here, there = server.job("a"), server.job_directory("a")
        (here / "output").mkdir()
        (here / "output" / "model").write_bytes(MODEL)
        assert await server.submit("a") == "1"
        assert (there / "output" / "model").read_bytes() == MODEL
        assert server.driver("a").records == []

    run(tmp_path, act)


def test_what_its_driver_does_comes_after_what_was(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        here = moved_job(server)
        await server.submit("a")
        server.slurm.change("1", state="RUNNING", reason="None")
        (server.job_directory("a") / "logs" / LOG).write_bytes(b"after\n")
        book = server.driver("a")
        book.append("agent", {"event": "started"})
        book.append("end", {"succeeded": True, "reason": "", "message": ""})
        records = await server.until("a", is_type("end"))

        assert (here / "logs" / LOG).read_bytes() == b"before\nafter\n"
        assert [record["seq"] for record in records] == list(range(len(records)))
        assert [item["slurmSeq"] for item in records if "slurmSeq" in item] == [4, 5]

    run(tmp_path, act)


def test_another_server_goes_on_where_the_first_one_was_killed(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        moved_job(server)
        await server.submit("a")
        server.slurm.change("1", state="RUNNING", reason="None")
        (server.job_directory("a") / "logs" / LOG).write_bytes(b"after\n")
        server.driver("a").append("agent", {"event": "started"})
        await server.until("a", is_type("agent", slurmSeq=4))
        await server.client.close()

        async with FakeServer(server.slurm, server.home) as second:
            assert await second.submit("a") == "1"
            (second.job_directory("a") / "logs" / LOG).write_bytes(b"after\nmore\n")
            second.driver("a").append("end", {"succeeded": True, "reason": "", "message": ""})
            await second.until("a", is_type("end", slurmSeq=5))
        assert (server.home / "jobs" / "a" / "logs" / LOG).read_bytes() == b"before\nafter\nmore\n"

    run(tmp_path, act)


def test_a_file_that_is_there_is_not_sent_again(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        here, there = moved_job(server), server.job_directory("a")
        (there / "output").mkdir(parents=True)
        (there / "output" / "model").write_bytes(b"x" * len(MODEL))
        changed = (here / "output" / "model").stat().st_mtime_ns
        os.utime(there / "output" / "model", ns=(changed, changed))
        await server.submit("a")

        assert (there / "output" / "model").read_bytes() == b"x" * len(MODEL)

    run(tmp_path, act)


@pytest.mark.parametrize(
    ("path", "offset", "said"),
    [
        ("output/model", 5, "a piece of 'output/model' is missing"),
        ("output/../plan.json", 0, "not a path below output/"),
        ("plan.json", 0, "not a path below output/"),
    ],
)
def test_a_piece_that_has_no_place_is_refused(
    tmp_path: Path, path: str, offset: int, said: str
) -> None:
    async def act(server: FakeServer) -> None:
        await server.client.ask("arrive", id="a")
        piece = {"path": path, "offset": offset, "last": True, "data": ""}
        with pytest.raises(AgentError, match=said):
            await server.client.ask("put", id="a", **piece)

    run(tmp_path, act)


def test_a_job_that_has_begun_takes_no_more_output(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        await server.submit("a")
        assert (await server.client.ask("arrive", id="a"))["begun"] is True
        piece = {"path": "output/model", "offset": 0, "last": True, "data": ""}
        with pytest.raises(AgentError, match="has begun here"):
            await server.client.ask("put", id="a", **piece)

    run(tmp_path, act)
