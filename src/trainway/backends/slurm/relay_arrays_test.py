"""Arrays with real relays; the Slurm that they speak to is a fake."""

import asyncio
from pathlib import Path

from trainway.backends.slurm.testing_slurm import FakeServer, is_type, run
from trainway.errors import UnavailableError
from trainway.json_types import Json


def place(rank: int, count: int) -> Json:
    return {"id": "job-0", "rank": rank, "count": count}


async def submitted(server: FakeServer, count: int) -> list[str]:
    """The numbers of the jobs of an array."""
    asked = [server.submit(f"job-{rank}", array=place(rank, count)) for rank in range(count)]
    return list(await asyncio.gather(*asked))


def test_many_jobs_are_one_array_and_one_question(tmp_path: Path) -> None:
    count = 50

    async def act(server: FakeServer) -> None:
        numbers = await submitted(server, count)
        assert numbers == [f"1_{rank}" for rank in range(count)]
        (call,) = server.slurm.calls("sbatch")
        assert f"--array=0-{count - 1}" in call.split()
        for rank in range(count):
            await server.until(f"job-{rank}", is_type("waiting"))
        rounds = (await server.client.ask("ping"))["rounds"]
        assert len(server.slurm.calls("squeue")) == rounds

    run(tmp_path, act)


def test_a_job_of_an_array_is_ended_held_and_forgotten_alone(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        await submitted(server, 3)
        await server.client.ask("suspend", id="job-1")
        await server.until("job-1", is_type("status", suspend=True))
        assert server.slurm.calls("scontrol uhold") == ["scontrol uhold 1_1"]
        await server.client.ask("cancel", id="job-2")
        assert (await server.until("job-2", is_type("end")))[-1]["reason"] == "Cancelled"
        server.driver("job-0").append("end", {"succeeded": True, "reason": "", "message": ""})
        server.slurm.change("1_0", state="COMPLETED")
        assert (await server.until("job-0", is_type("end")))[-1]["succeeded"] is True
        array = server.slurm.home / "arrays" / "job-0"
        for rank in (0, 2):
            await server.client.ask("forget", id=f"job-{rank}")
        assert [path.name for path in array.iterdir()] == ["1"]
        assert server.slurm.calls("scancel --full 1_2") == ["scancel --full 1_2"]
        assert server.slurm.jobs["1_1"]["state"] == "PENDING"
        await server.client.ask("forget", id="job-1")
        assert not array.exists()
        assert list((server.slurm.home / "jobs").iterdir()) == []

    run(tmp_path, act)


def test_an_array_whose_sbatch_nobody_heard_is_found_again(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        with server.slurm.changing() as state:
            state["dies"] = True
        asked = [server.submit(f"job-{rank}", array=place(rank, 3)) for rank in range(3)]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        assert [type(answer) for answer in answers] == [UnavailableError] * 3
        with server.slurm.changing() as state:
            state["dies"] = False
        assert await submitted(server, 3) == ["1_0", "1_1", "1_2"]
        assert len(server.slurm.calls("sbatch")) == 1

    run(tmp_path, act)
