"""The client with real relays; the Slurm that they speak to is a fake."""

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from trainway.backends.agents.agent_socket import AgentError
from trainway.backends.slurm.relay_client import RelayClient
from trainway.backends.slurm.testing_slurm import (
    LARGE,
    PATIENCE_S,
    FakeServer,
    FakeSlurm,
    is_type,
    run,
)
from trainway.errors import UnavailableError
from trainway.json_types import Json

END: Json = {"succeeded": True, "reason": "", "message": ""}
POD: Json = {"uid": "u", "pod": "node-0-0", "attempt": 0, "containers": [{"name": "node"}]}


async def until(is_so: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not is_so():
            await asyncio.sleep(0.05)


async def begin(server: FakeServer) -> None:
    """Have a job submitted, and begun."""
    await server.submit("a")
    server.slurm.change("1", state="RUNNING", reason="None")


async def asked(server: FakeServer, operation: str) -> asyncio.Task[Json]:
    """Ask something that the driver of a job is asked in turn; the answer, when it has been."""
    task = asyncio.create_task(server.client.ask(operation, id="a"))
    await until(lambda: server.slurm.jobs["1"].get("asked"))
    return task


def slurm_with_ssh(path: Path, *lines: str) -> FakeSlurm:
    """A Slurm whose login node is reached by a few lines of shell."""
    slurm = FakeSlurm(path / "slurm")
    ssh = slurm.directory / "bin" / "ssh"
    ssh.write_text("".join(f"{line}\n" for line in ("#!/bin/sh", *lines)))
    ssh.chmod(0o700)
    return slurm


def test_a_job_is_submitted_once_and_waits_for_slurms_reason(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        assert await server.submit("a") == "1"
        assert await server.submit("a") == "1"
        waiting = (await server.until("a", is_type("waiting")))[-1]
        assert (waiting["reason"], waiting["queue"]) == ("Resources", "main")
        assert len(server.slurm.calls("sbatch")) == 1
        job = server.slurm.job_directory("a")
        assert server.slurm.jobs["1"]["cwd"] == str(job)
        plan = json.loads((job / "plan.json").read_text())
        digest = plan["objects"][0]["data"]["large"]["$blob"]
        assert (job / "blobs" / digest).read_text() == LARGE
        assert (job / "agent.pyz").stat().st_size > 10_000

    run(tmp_path, act, is_new=True)


def test_what_a_job_leaves_comes_here_and_its_end_last(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        await begin(server)
        job = server.slurm.job_directory("a")
        book = server.driver("a")
        (job / "logs" / "node-0-0.node.0.log").write_bytes(b"line\n")
        (job / "output" / "model").write_bytes(b"m" * 500_000)
        book.append("agent", {"event": "started"})
        book.append("pod", {**POD, "phase": "Running"})
        book.append("pod", {**POD, "phase": "Succeeded"})
        book.append("end", END)
        records = await server.until("a", is_type("end"))
        home = server.home / "jobs" / "a"
        assert (home / "logs" / "node-0-0.node.0.log").read_bytes() == b"line\n"
        assert (home / "output" / "model").stat().st_size == 500_000
        assert [item["slurmSeq"] for item in records if "slurmSeq" in item] == [0, 1, 2, 3]
        assert records[-1]["succeeded"] is True

    run(tmp_path, act)


@pytest.mark.parametrize("accounting", ["slurmdbd", "none"])
def test_a_job_that_left_the_queue_unseen_is_accounted_for(tmp_path: Path, accounting: str) -> None:
    async def act(server: FakeServer) -> None:
        await server.submit("a")
        book = server.driver("a")
        book.append("event", {"reason": "Began"})
        server.slurm.change("1", state="TIMEOUT", queued=False)
        if accounting == "none":
            book.append("end", {**END, "succeeded": False, "reason": "TimeLimit"})
        end = (await server.until("a", is_type("end")))[-1]
        assert end["reason"] == "TimeLimit"

    run(tmp_path, act, accounting)


def test_a_job_that_fails_to_say_how_it_ended(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        await server.submit("a")
        server.driver("a").append("pod", {**POD, "job": "j", "phase": "Running"})
        server.slurm.change("1", state="OUT_OF_MEMORY", reason="None")
        records = await server.until("a", is_type("end"))
        assert records[-1]["reason"] == "OutOfMemory"
        assert [item["phase"] for item in records if item["type"] == "pod"] == ["Running", "Failed"]

    run(tmp_path, act)


def test_a_job_that_waits_is_cancelled_at_once(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        await server.submit("a")
        await server.client.ask("cancel", id="a")
        end = (await server.until("a", is_type("end")))[-1]
        assert end["reason"] == "Cancelled"
        assert server.slurm.calls("scancel") == ["scancel --full 1"]

    run(tmp_path, act)


def test_a_job_that_runs_is_asked_and_then_ended(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        await begin(server)
        cancelled = await asked(server, "cancel")
        assert (server.slurm.job_directory("a") / "wish").read_text() == "cancel"
        book = server.driver("a")
        book.append("end", {"succeeded": False, "reason": "Cancelled", "message": "asked"})
        server.slurm.change("1", state="CANCELLED")
        await asyncio.wait_for(cancelled, PATIENCE_S)
        assert (await server.until("a", is_type("end")))[-1]["message"] == "asked"
        assert "scancel --full 1" not in server.slurm.calls("scancel")

    run(tmp_path, act)


def test_suspend_and_resume(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        await begin(server)
        suspended = await asked(server, "suspend")
        (server.slurm.job_directory("a") / "stopped").touch()
        await asyncio.wait_for(suspended, PATIENCE_S)
        assert server.slurm.calls("scontrol requeuehold") == ["scontrol requeuehold 1"]
        await server.until("a", is_type("status", suspend=True))
        await server.client.ask("resume", id="a")
        await server.until("a", is_type("status", suspend=False))
        assert server.slurm.calls("scontrol release") == ["scontrol release 1"]

    run(tmp_path, act)


def test_a_job_may_be_resumed_while_it_is_being_suspended(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        await begin(server)
        suspended = await asked(server, "suspend")
        resumed = asyncio.create_task(server.client.ask("resume", id="a"))
        await suspended
        wish = server.slurm.job_directory("a") / "wish"
        assert wish.read_text() == "suspend"
        (server.slurm.job_directory("a") / "stopped").touch()
        await asyncio.wait_for(resumed, PATIENCE_S)
        assert wish.read_text() == "run"
        calls = server.slurm.calls("scontrol re")
        assert calls == ["scontrol requeuehold 1", "scontrol release 1"]

    run(tmp_path, act)


def test_a_job_that_is_submitted_on_hold_is_suspended(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        await server.submit("a", "hold")
        status = (await server.until("a", is_type("status")))[-1]
        assert status["jobset"]["conditions"][0]["type"] == "Suspended"

    run(tmp_path, act)


def test_slurms_refusal_comes_with_a_hint(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        with pytest.raises(AgentError, match="Invalid partition name specified") as caught:
            await server.submit("a", "partition=nope")
        assert "sinfo -s" in str(caught.value.hint)
        with pytest.raises(AgentError, match="Invalid partition"):
            await server.client.ask("test", script="#!/bin/sh\n#SBATCH --partition=nope\n")
        await server.client.ask("test", script="#!/bin/sh\n")
        assert server.slurm.jobs == {}

    run(tmp_path, act)


def test_an_answer_that_got_lost_does_not_submit_twice(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        with server.slurm.changing() as state:
            state["dies"] = True
        with pytest.raises(UnavailableError, match="Slurm does not answer"):
            await server.submit("a")
        with server.slurm.changing() as state:
            state["dies"] = False
        assert await server.submit("a") == "1"
        assert list(server.slurm.jobs) == ["1"]

    run(tmp_path, act)


def test_another_server_goes_on_where_the_last_one_was(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        await server.submit("a")
        await server.until("a", is_type("waiting"))
        book = server.driver("a")
        book.append("event", {"reason": "First"})
        await server.until("a", is_type("event", reason="First"))
        await server.client.close()
        book.append("event", {"reason": "Second"})
        book.append("end", END)
        other = FakeServer(server.slurm, server.home)
        async with other:
            path = other.home / "jobs" / "a"
            await other.client.ask("track", id="a", directory=str(path))
            records = await other.until("a", is_type("end"))
        reasons = [item["reason"] for item in records if item["type"] == "event"]
        assert reasons == ["Submitted", "First", "Second"]

    run(tmp_path, act)


def test_a_relay_that_dies_is_replaced(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        await server.submit("a")
        book = server.driver("a")
        book.append("event", {"reason": "First"})
        await server.until("a", is_type("event", reason="First"))
        answer = await server.client.ask("command", argv=["sh", "-c", "ps -o ppid= $$"])
        os.kill(int(answer["stdout"]), 9)
        book.append("event", {"reason": "Second"})
        await server.until("a", is_type("event", reason="Second"))

    run(tmp_path, act)


def test_jobs_survive_a_controller_that_is_away(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        await server.submit("a")
        await server.until("a", is_type("waiting"))
        with server.slurm.changing() as state:
            state["silent"] = True
        before = len(server.slurm.calls("squeue"))
        await until(lambda: len(server.slurm.calls("squeue")) >= before + 2)
        with server.slurm.changing() as state:
            state["silent"] = False
            state["jobs"]["1"]["reason"] = "Priority"
        waiting = (await server.until("a", is_type("waiting", reason="Priority")))[-1]
        assert waiting["message"].endswith("Priority")

    run(tmp_path, act)


def test_a_job_is_forgotten_with_its_directory(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        await server.submit("a")
        await server.client.ask("forget", id="a")
        assert not server.slurm.job_directory("a").exists()
        assert server.slurm.jobs["1"]["state"] == "CANCELLED"
        await server.client.ask("forget", id="a")
        path = server.home / "jobs" / "a"
        with pytest.raises(AgentError, match="not on this cluster"):
            await server.client.ask("track", id="b", directory=str(server.job("b")))
        assert path.exists()

    run(tmp_path, act)


def test_many_jobs_cost_one_question(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        ids = [f"job-{number}" for number in range(40)]
        await asyncio.gather(*(server.submit(job_id) for job_id in ids))
        before = len(server.slurm.calls())
        await asyncio.gather(*(server.until(job_id, is_type("waiting")) for job_id in ids))
        calls = server.slurm.calls()[before:]
        assert [call for call in calls if not call.startswith("squeue")] == []
        assert len(calls) < len(ids) // 2, "how many rounds it takes is for the machine to say"

    run(tmp_path, act)


def test_a_login_node_that_is_not_there(tmp_path: Path) -> None:
    async def act() -> None:
        words = "ssh: Could not resolve hostname hpc: Name or service not known"
        slurm = slurm_with_ssh(tmp_path, f"echo '{words}' >&2", "exit 255")
        cluster = {**slurm.cluster, "login": "hpc", "destination": "hpc"}
        client = RelayClient(cluster, tmp_path / "home", slurm.environ)
        try:
            with pytest.raises(UnavailableError, match="there is no host named hpc") as caught:
                await client.ask("ping")
            assert "HostName" in str(caught.value.hint)
            fields = {"id": "a", "directory": str(tmp_path), "script": "#!/bin/sh"}
            with pytest.raises(AgentError, match="there is no host named hpc"):
                await client.ask("submit", **fields)
        finally:
            await client.close()

    asyncio.run(act())


def test_the_agent_is_copied_to_the_login_node_once(tmp_path: Path) -> None:
    async def act() -> None:
        home = f"export HOME={tmp_path}/far"
        slurm = slurm_with_ssh(tmp_path, home, "for w; do :; done", 'exec sh -c "$w"')
        (tmp_path / "far").mkdir()
        cluster = {**slurm.cluster, "login": "hpc", "home": "", "env": {"MARK": "it's here"}}
        client = RelayClient(cluster, tmp_path / "home", slurm.environ)
        try:
            answer = await client.ask("command", argv=["sh", "-c", 'echo "$HOME $MARK"'])
            assert answer["stdout"] == f"{tmp_path}/far it's here\n"
        finally:
            await client.close()
        (copied,) = (tmp_path / "far/.trainway/agent").glob("*.pyz")
        assert copied.stat().st_size > 10_000
        assert (tmp_path / "far/.trainway/slurm/jobs").is_dir()

    asyncio.run(act())


def test_facts_of_a_cluster(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        facts = await server.client.ask("facts")
        assert (facts["version"], facts["cluster"]) == ("22.05.8", "fake")
        assert facts["home"] == str(server.slurm.home)
        with server.slurm.changing() as state:
            state["silent"] = True
        with pytest.raises(UnavailableError, match="Slurm does not answer"):
            await server.client.ask("facts")

    run(tmp_path, act)


def test_a_relay_is_replaced_when_its_cluster_is_described_anew(tmp_path: Path) -> None:
    async def act(server: FakeServer) -> None:
        question = {"argv": ["sh", "-c", 'echo "$PPID $WORD"']}
        await server.submit("a")
        first = (await server.client.ask("command", **question))["stdout"].split()
        for _ in range(2):
            server.client.describe({**server.cluster, "env": {"WORD": "new"}})
            second = (await server.client.ask("command", **question))["stdout"].split()
        server.client.describe({**server.cluster, "env": {"WORD": "newer"}})
        third = (await server.client.ask("command", **question))["stdout"].split()
        assert (first[1:], second[1:], third[1:]) == ([], ["new"], ["newer"])
        assert len({first[0], second[0], third[0]}) == 3
        server.slurm.change("1", state="RUNNING", reason="None")
        server.driver("a").append("end", END)
        assert (await server.until("a", is_type("end")))[-1]["succeeded"]

    run(tmp_path, act)
