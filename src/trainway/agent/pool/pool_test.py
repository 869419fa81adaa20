"""The pool agent with real host agents, which are reached without SSH."""

import fcntl
import json
import os
import signal
from pathlib import Path

import pytest

from trainway.agent.base.testing import container, jobset, role
from trainway.agent.host.shared_holdings import LOCK
from trainway.agent.pool.testing import PoolAgent, pool_agent, until
from trainway.json_types import Json

TRUE = jobset(role("node", container("main", "true")))


def gated(gate: Path, script: str = "true") -> Json:
    """A job that ends when the gate is opened."""
    return jobset(role("node", container("main", f"cat {gate}; {script}")))


def gate_at(path: Path) -> Path:
    os.mkfifo(path)
    return path


def test_a_gang_is_spread_over_the_hosts() -> None:
    with pool_agent(hosts=2, cpus=4) as pool:
        gang = role(
            "node", container("main", "echo $JOB_COMPLETION_INDEX"), parallelism=4, completions=4
        )
        job = pool.job(jobset(gang), amounts={"cpus": 1})
        assert job.end()["succeeded"], job.records()
        assert job.placement() == {
            "node-0-0": "a",
            "node-0-1": "a",
            "node-0-2": "b",
            "node-0-3": "b",
        }
        assert job.log("node-0-3.main.0") == [b"o 3"]


def test_jobs_start_in_order_as_soon_as_there_is_room(tmp_path: Path) -> None:
    with pool_agent(hosts=1, cpus=1) as pool:
        gates = [gate_at(tmp_path / f"gate{index}") for index in range(3)]
        jobs = [pool.job(gated(gate), amounts={"cpus": 1}) for gate in gates]
        jobs[0].until_pod("Running")
        told = jobs[2].until(lambda record: record.get("reason") == "Queued")
        assert (told["message"], told["position"]) == ("waits for its turn", 2)
        assert pool.ask("status")["queue"] == [job.id for job in jobs[1:]]
        assert pool.status("a")["free"]["cpus"] == 0
        for job, gate in zip(jobs, gates, strict=True):
            job.until_pod("Running")
            gate.write_text("")
            assert job.end()["succeeded"]
        first = jobs[1].until(lambda record: record.get("reason") == "NoRoom")
        assert first["message"] == "it needs 1 CPU, with only 0 free"
        pool.until_host("a", lambda status: status["free"]["cpus"] == 1)


def test_priority_goes_first(tmp_path: Path) -> None:
    with pool_agent(hosts=1, cpus=1) as pool:
        gate = gate_at(tmp_path / "gate")
        first = pool.job(gated(gate), amounts={"cpus": 1})
        first.until_pod("Running")
        low = pool.job(TRUE, amounts={"cpus": 1})
        high = pool.job(TRUE, amounts={"cpus": 1}, priority=5)
        assert pool.ask("status")["queue"] == [high.id, low.id]
        gate.write_text("")
        assert low.end()["succeeded"]
        ends = [job.until_pod("Succeeded")["containers"][0] for job in (high, low)]
        assert ends[0]["finishedAt"] < ends[1]["startedAt"]


def test_what_can_never_fit_is_refused_with_the_numbers() -> None:
    with pool_agent(hosts=2, cpus=2) as pool:
        job = pool.job(TRUE, amounts={"cpus": 64})
        end = job.end()
        assert not end["succeeded"]
        assert end["reason"] == "DoesNotFit"
        assert "it needs 64 CPUs, and there are 4" in end["message"]
        assert pool.job(TRUE, amounts={"cpus": 64}, oversubscribe=True).end()["succeeded"]


def test_the_next_agent_takes_running_and_waiting_jobs_over(tmp_path: Path) -> None:
    with pool_agent(hosts=2, cpus=1) as pool:
        gate = gate_at(tmp_path / "gate")
        running = pool.job(gated(gate, "echo done"), amounts={"cpus": 1})
        waiting = pool.job(
            jobset(role("node", container("main", "true"), parallelism=2, completions=2)),
            amounts={"cpus": 1},
        )
        running.until_pod("Running")
        waiting.until(lambda record: record["type"] == "waiting")
        pool.end(signal.SIGKILL)
        gate.write_text("")
        assert pool.start().returncode == 0
        assert running.end()["succeeded"], pool.log()
        end = waiting.end()
        assert end["succeeded"], f"{end}\n{pool.log()}"
        assert running.log("node-0-0.main.0") == [b"o done"]
        assert {record["restarts"] for record in running.records() if "restarts" in record} <= {0}
        pods = {record["uid"] for record in running.records() if record["type"] == "pod"}
        assert len(pods) == 1


def test_asked_to_leave_it_leaves_and_jobs_run_on(tmp_path: Path) -> None:
    with pool_agent(hosts=1) as pool:
        gate = gate_at(tmp_path / "gate")
        job = pool.job(gated(gate))
        job.until_pod("Running")
        pool.end(signal.SIGTERM)
        assert not (pool.path / "agent.sock").exists()
        assert job.processes()
        assert pool.start().returncode == 0
        gate.write_text("")
        assert job.end()["succeeded"]


def test_it_goes_when_nobody_needs_it(tmp_path: Path) -> None:
    with pool_agent(hosts=1) as pool:
        gate = gate_at(tmp_path / "gate")
        job = pool.job(gated(gate))
        job.until_pod("Running")
        pool.end(signal.SIGTERM)
        assert pool.start("--idle=0.1").returncode == 0
        descriptor = os.pidfd_open(pool.pid)
        try:
            gate.write_text("")
            assert job.end()["succeeded"]
            pool.wait_gone(descriptor)
        finally:
            os.close(descriptor)
        assert "Traceback" not in pool.log()


def test_there_is_one_agent_of_a_pool() -> None:
    with pool_agent(hosts=1) as pool:
        second = pool.start()
        assert second.returncode == 1
        assert second.stderr == f"{pool.path}: an agent is already running here\n"


def test_a_host_that_cannot_be_reached_says_why() -> None:
    with pool_agent(hosts=1) as pool:
        broken = {"name": "x", "command": ["sh", "-c", "echo Connection refused >&2; exit 255"]}
        pool.configure(pool.host("a"), broken)
        status = pool.until_host("x", lambda status: status.get("message"))
        assert status["message"] == "nothing listens there for SSH"
        assert status["hint"] == "check that sshd is running, and on that port"
        assert pool.job(TRUE).end()["succeeded"]


def test_without_hosts_jobs_wait_and_say_why() -> None:
    with pool_agent(hosts=0) as pool:
        job = pool.job(TRUE)
        told = job.until(lambda record: record["type"] == "waiting")
        assert (told["reason"], told["message"]) == ("NoHosts", "the pool has no hosts")
        pool.configure(pool.host("a"))
        assert job.end()["succeeded"]


def test_hosts_come_and_go(tmp_path: Path) -> None:
    with pool_agent(hosts=1) as pool:
        gate = gate_at(tmp_path / "gate")
        job = pool.job(gated(gate))
        job.until_pod("Running")
        pool.configure(pool.host("b"))
        assert pool.status("a")["retired"]
        other = pool.job(TRUE)
        assert other.end()["succeeded"]
        assert set(other.placement().values()) == {"b"}
        gate.write_text("")
        assert job.end()["succeeded"]
        until(lambda: [host["name"] for host in pool.ask("status")["hosts"]] == ["b"])


def test_requests() -> None:
    with pool_agent(hosts=1) as pool:
        unknown = pool.ask("cancel", id="nobody")
        assert unknown["ok"] is False
        assert unknown["code"] == "not_found"
        assert pool.ask("forget", id="nobody") == {"ok": True}
        assert pool.ask("dance") == {"ok": False, "error": "no such operation: dance"}
        assert "cannot be run" in pool.ask("submit", directory="/nowhere")["error"]
        assert pool.ask("configure")["ok"] is False
        with pool.connect() as client, client.makefile("rwb") as lines:
            lines.write(b'{"op": "watch", "id": "nobody"}\n')
            lines.flush()
            assert json.loads(lines.readline())["ok"] is False
            assert lines.readline() == b""
        job = pool.job(TRUE)
        assert job.end()["succeeded"]
        job.start()


def test_cancel(tmp_path: Path) -> None:
    with pool_agent(hosts=1, cpus=1) as pool:
        gate = gate_at(tmp_path / "gate")
        running, waiting = (pool.job(gated(gate), amounts={"cpus": 1}) for _ in range(2))
        running.until_pod("Running")
        for job in (waiting, running):
            assert job.ask("cancel")["ok"]
            assert not job.processes()
            assert job.end()["reason"] == "Cancelled"


def test_a_job_says_why_a_host_does_not_give_it_a_place() -> None:
    with pool_agent(hosts=1, cpus=1) as pool:
        pool.until_host("a", "up")
        lock = pool.home("a") / LOCK
        with lock.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            job = pool.job(TRUE, amounts={"cpus": 1})
            told = job.until(lambda record: record.get("reason") == "NoRoom")
            assert told["message"] == f"host a: another process keeps {lock} locked"
        assert job.end()["succeeded"], job.records()


def test_two_fractions_of_a_gpu_share_it(tmp_path: Path) -> None:
    with pool_agent(hosts=1, gpus=1) as pool:
        gate = gate_at(tmp_path / "gate")
        jobs = [pool.job(gated(gate), amounts={"gpus": share}) for share in (0.5, 0.5, 0.25)]
        for job in jobs[:2]:
            job.until_pod("Running")
        told = jobs[2].until(lambda record: record.get("reason") == "NoRoom")
        assert told["message"] == "it needs 0.25 GPUs, with only 0 free"


@pytest.mark.parametrize("name", ["on_host", "on_frame", "place"])
def test_an_error_of_ours_in_one_job_ends_that_job_alone(name: str) -> None:
    """The agent is started with a job whose name makes it stumble."""
    with pool_agent(hosts=0) as pool:
        pool.end(signal.SIGTERM)
        assert _start_stumbling(pool, name) == 0
        bad, good = pool.job(jobset(*TRUE["spec"]["replicatedJobs"], name="bad")), pool.job(TRUE)
        pool.configure(pool.host("a"))
        assert good.end()["succeeded"]
        end = bad.end()
        assert (end["succeeded"], end["reason"]) == (False, "AgentError")
        assert "stumbled" in end["message"]


def _start_stumbling(pool: PoolAgent, name: str) -> int:
    """Start the agent in a child, with one method of its jobs spoiled."""
    from trainway.agent.pool import gang, main  # noqa: PLC0415 - in the child only

    child = os.fork()
    if not child:
        status = 1
        try:
            method = getattr(gang.Gang, name)

            def stumble(self: gang.Gang, *arguments: object) -> None:
                if self.plan.name == "bad":
                    raise RuntimeError("stumbled")
                method(self, *arguments)

            setattr(gang.Gang, name, stumble)
            status = main.main([str(pool.path)])
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    return status
