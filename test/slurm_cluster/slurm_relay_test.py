"""The relay on a real Slurm: what it costs, and what becomes of jobs that nobody looked at."""

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from environments import unavailable
from slurm_configuration import Accounting
from switch import UnavailableError as NoCluster

from slurm_cluster import SlurmCluster, without_slurm
from trainway.backends.agent_socket import AgentError
from trainway.backends.slurm.testing_slurm import RelayServer, is_type

pytestmark = pytest.mark.xdist_group("slurm")

JOBS = 500
WINDOW_S = 20
"""How long the cost of jobs that wait is measured."""
END = """echo '{"seq":0,"type":"end","succeeded":true,"reason":"","message":""}' > journal.jsonl"""
"""What a driver does at least."""


def started(nodes: int, accounting: Accounting = "none", *, rest: bool = False) -> SlurmCluster:
    try:
        return SlurmCluster(nodes, accounting=accounting, rest=rest)
    except NoCluster as error:
        unavailable(str(error))


def act_on(
    cluster: SlurmCluster,
    path: Path,
    act: Callable[[RelayServer], Awaitable[None]],
    **more: object,
) -> None:
    """Have a server do something on a cluster."""
    described = {"name": "test", "login": "", "home": str(path / "cluster"), **more}
    environ = {**without_slurm(os.environ), **cluster.environment}

    async def acted() -> None:
        async with RelayServer(described, environ, path / "home") as server:
            await act(server)

    asyncio.run(acted())


def forget_early(cluster: SlurmCluster) -> None:
    """Let the controller drop jobs soon after their end."""
    cluster.conf.write_text(cluster.conf.read_text().replace("MinJobAge=300", "MinJobAge=2"))
    cluster.run("scontrol", "reconfigure")


@pytest.mark.parametrize("accounting", ["none", "text", "slurmdbd"])
def test_jobs_that_ended_and_were_forgotten_while_nobody_looked(
    accounting: Accounting, tmp_path: Path
) -> None:
    with started(1, accounting) as cluster:
        forget_early(cluster)

        async def submit(server: RelayServer) -> None:
            await server.submit("good", script=END)
            await server.submit("bad", script="exit 3")
            numbers.append(await server.submit("gone", "hold"))

        numbers: list[str] = []
        act_on(cluster, tmp_path, submit)
        cluster.run("scancel", *numbers)
        deadline = time.monotonic() + 150
        while cluster.run("squeue", "-h", "--states=all"):
            assert time.monotonic() < deadline
            time.sleep(0.2)

        async def look(server: RelayServer) -> None:
            ends = {}
            for job_id in ("good", "bad", "gone"):
                path = server.home / "jobs" / job_id
                await server.client.ask("track", id=job_id, directory=str(path))
            for job_id in ("good", "bad", "gone"):
                ends[job_id] = (await server.until(job_id, is_type("end")))[-1]["reason"]
            known = {"good": "", "bad": "BatchFailed", "gone": "Cancelled"}
            lost = {"good": "", "bad": "Lost", "gone": "Lost"}
            assert ends == (lost if accounting == "none" else known)

        act_on(cluster, tmp_path, look)


def test_five_hundred_jobs(tmp_path: Path) -> None:
    async def act(server: RelayServer) -> None:
        ids = [f"job-{number}" for number in range(JOBS)]
        await asyncio.gather(
            *(server.submit(job_id, "exclusive", script="exec sleep 1000") for job_id in ids)
        )
        await asyncio.gather(*(server.until(job_id, is_type("waiting")) for job_id in ids[1:]))
        before = await server.client.ask("ping")
        used, began = time.process_time(), time.monotonic()
        await asyncio.sleep(WINDOW_S)
        after = await server.client.ask("ping")
        share = 60 / (time.monotonic() - began)
        rounds = after["rounds"] - before["rounds"]
        assert 2 <= rounds <= WINDOW_S
        assert after["commands"] - before["commands"] <= 2 * rounds
        assert (time.process_time() - used) * share < 1.0
        assert (after["seconds"] - before["seconds"]) * share < 3.0

    with started(1) as cluster:
        act_on(cluster, tmp_path, act)


def test_the_queue_as_slurmrestd_tells_it(tmp_path: Path) -> None:
    with started(1, rest=True) as cluster:

        async def act(server: RelayServer) -> None:
            facts = await server.client.ask("facts")
            assert facts["rest"] == f"{cluster.rest_url} ok"
            await server.submit("first", "exclusive", script="exec sleep 1000")
            await server.submit("second", "exclusive", script=END)
            waiting = await server.until("second", is_type("waiting", reason="Resources"))
            assert "Slurm job" in waiting[-1]["message"]
            await server.client.ask("cancel", id="first", grace=0)
            assert (await server.until("second", is_type("end")))[-1]["succeeded"]

        act_on(cluster, tmp_path, act, rest={"url": cluster.rest_url})


def test_a_controller_that_restarts(tmp_path: Path) -> None:
    with started(1) as cluster:

        async def act(server: RelayServer) -> None:
            await server.submit("a", script=f"sleep 8; {END}")
            await server.until("a", is_type("waiting"))
            await asyncio.to_thread(cluster.stop_controller)
            await asyncio.to_thread(cluster.start_controller)
            assert (await server.until("a", is_type("end")))[-1]["succeeded"]

        act_on(cluster, tmp_path, act)


def test_refusals_are_slurms_own_words(tmp_path: Path) -> None:
    with started(1) as cluster:

        async def act(server: RelayServer) -> None:
            for option in ("partition=nope", "nodes=99", "mem=9000G", "foo=bar"):
                with pytest.raises(AgentError) as caught:
                    await server.submit("a", option)
                assert caught.value.hint, option
                assert "Traceback" not in caught.value.message

        act_on(cluster, tmp_path, act)


def test_relays_that_are_killed_lose_nothing_and_repeat_nothing(tmp_path: Path) -> None:
    log = "logs/node-0-0.node.0.log"
    script = f'for i in $(seq 60); do echo "line $i" >> {log}; sleep 0.1; done; {END}'
    with started(1) as cluster:

        async def act(server: RelayServer) -> None:
            await server.submit("a", script=script)
            for _ in range(3):
                relay = await server.client.ask("command", argv=["sh", "-c", "ps -o ppid= $$"])
                os.kill(int(relay["stdout"]), signal.SIGKILL)
                await asyncio.sleep(1)
                await server.client.ask("ping")
            assert (await server.until("a", is_type("end")))[-1]["succeeded"]

        act_on(cluster, tmp_path, act)
    lines = (tmp_path / "home/jobs/a" / log).read_text().splitlines()
    assert lines == [f"line {number}" for number in range(1, 61)]
