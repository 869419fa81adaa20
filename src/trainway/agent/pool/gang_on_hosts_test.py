"""Gangs on real host agents, which are reached without SSH, through deaths and moves."""

import os
import signal
from pathlib import Path

from trainway.agent.base.testing import container, jobset, role
from trainway.agent.pool.testing import PoolAgent, PoolJob, pool_agent, until

PAIR = {"parallelism": 2, "completions": 2}


def numbers(job: PoolJob, name: str) -> list[int]:
    return [int(line.split()[1]) for line in job.log(name)]


def waiting(gate: Path) -> str:
    """A script that waits for a file."""
    return f"while [ ! -e {gate} ]; do sleep 0.05; done"


def kill_host(pool: PoolAgent, name: str) -> None:
    descriptor = os.pidfd_open(pool.host_pid(name))
    try:
        signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        pool.wait_gone(descriptor)
    finally:
        os.close(descriptor)


def test_no_line_is_lost_or_doubled_when_the_pool_agent_dies(tmp_path: Path) -> None:
    """It is killed three times while lines come faster than they can be copied."""
    with pool_agent(hosts=2, cpus=1) as pool:
        gate = tmp_path / "gate"
        script = f"i=0; while [ $i -lt 30000 ]; do echo $i; i=$((i+1)); done; {waiting(gate)}"
        spec = jobset(role("node", container("main", script), **PAIR))
        job = pool.job(spec, amounts={"cpus": 1})
        job.until_pod("Running", "node-0-0")
        job.until_pod("Running", "node-0-1")
        for _ in range(3):
            pool.end(signal.SIGKILL)
            assert pool.start().returncode == 0
            pool.until_host("a", "up")
        gate.touch()
        assert job.end()["succeeded"], pool.log()
        for name in ("node-0-0.main.0", "node-0-1.main.0"):
            assert numbers(job, name) == list(range(30000))
        uids = {record["uid"] for record in job.records() if record["type"] == "pod"}
        assert len(uids) == 2
        assert job.status()["restarts"] == 0


def test_a_host_agent_that_dies_costs_an_attempt_and_no_output() -> None:
    """The second attempt finds the checkpoint of the first, also on a host that had none."""
    with pool_agent(hosts=2, cpus=1) as pool:
        script = (
            'if [ "$JOBSET_RESTART_ATTEMPT" = 0 ] && [ "$JOB_COMPLETION_INDEX" = 0 ]; then'
            ' echo 5 > "$TRAINWAY_OUTPUT_DIR/step"; fi;'
            ' if [ "$JOBSET_RESTART_ATTEMPT" = 0 ]; then echo waits; sleep 1000; fi;'
            ' cat "$TRAINWAY_OUTPUT_DIR/step"'
        )
        main = container("main", script)
        path = {"fieldPath": "metadata.labels['jobset.sigs.k8s.io/restart-attempt']"}
        main["env"] = [{"name": "JOBSET_RESTART_ATTEMPT", "valueFrom": {"fieldRef": path}}]
        job = pool.job(jobset(role("node", main, **PAIR)), amounts={"cpus": 1})
        job.until_pod("Running", "node-0-0")
        job.until_pod("Running", "node-0-1")
        until((job.path / "output" / "step").exists)
        first = job.placement()["node-0-0"]
        kill_host(pool, first)
        assert job.end()["succeeded"], pool.log()
        status = job.status()
        assert (status["restarts"], status["restartsCountTowardsMax"]) == (1, 0)
        for index in range(2):
            assert job.log(f"node-0-{index}.main.1") == [b"o 5"]
        tokens = [record["token"] for record in job.records() if record["type"] == "placement"]
        assert tokens == [1, 2, 2, 2]
        assert not job.processes()


def has_job(pool: PoolAgent, host: str, job: PoolJob) -> bool:
    return (pool.home(host) / "jobs" / job.id).exists()


def test_a_suspended_job_goes_on_elsewhere_with_the_same_log(tmp_path: Path) -> None:
    with pool_agent(hosts=2, cpus=1) as pool:
        for name in "ab":
            pool.until_host(name, "up")
        gate, printed = tmp_path / "gate", tmp_path / "printed"
        script = f"echo here; touch {printed}; {waiting(gate)}"
        job = pool.job(jobset(role("node", container("main", script))), amounts={"cpus": 1})
        until(printed.exists)
        first = job.placement()["node-0-0"]
        assert job.ask("suspend")["ok"]
        job.until_pod("Failed")
        other = pool.job(
            jobset(role("node", container("main", waiting(gate)))), amounts={"cpus": 1}
        )
        other.until_pod("Running")
        assert other.placement()["node-0-0"] == first, "the first host is free again"
        assert job.ask("resume")["ok"]
        job.until(lambda record: record.get("token") == 2 and record.get("hosts"))
        gate.touch()
        assert job.end()["succeeded"]
        assert other.end()["succeeded"]
        assert job.placement()["node-0-0"] != first
        assert job.log("node-0-0.main.0") == [b"o here", b"o here"]
        until(lambda: not has_job(pool, first, job))


def test_output_comes_here_as_it_was() -> None:
    with pool_agent(hosts=1) as pool:
        script = (
            'cd "$TRAINWAY_OUTPUT_DIR" && mkdir deep && head -c 600000 /dev/zero > deep/large'
            " && touch -d @1700000000 deep/large && chmod 750 deep/large && : > empty"
            " && ln -s deep/large last && ln -s /etc/passwd out"
        )
        job = pool.job(jobset(role("node", container("main", script))))
        assert job.end()["succeeded"]
        output = job.path / "output"
        facts = (output / "deep" / "large").stat()
        assert (facts.st_size, facts.st_mtime, facts.st_mode & 0o777) == (600000, 1700000000, 0o750)
        assert (output / "empty").read_bytes() == b""
        assert (output / "last").readlink() == Path("deep/large")
        assert not (output / "out").is_symlink()
        until(lambda: not has_job(pool, "a", job))


def test_of_two_attempts_one_wins(tmp_path: Path) -> None:
    """A host is frozen, counts as lost, and wakes up when its pod runs elsewhere."""
    with pool_agent(hosts=2, cpus=1) as pool:
        for name in "ab":
            pool.until_host(name, "up")
        gate, won = tmp_path / "gate", tmp_path / "won"
        script = f'{waiting(gate)}; echo "$TRAINWAY_FENCING_TOKEN" >> {won}'
        job = pool.job(jobset(role("node", container("main", script))), amounts={"cpus": 1})
        pid = job.until_pod("Running")["containers"][0]["pid"]
        assert job.placement() == {"node-0-0": "a"}
        daemon = pool.host_pid("a")
        os.kill(daemon, signal.SIGSTOP)
        try:
            job.until(lambda record: record.get("reason") == "HostUnreachable")
            job.until(lambda record: record.get("reason") == "HostLost")
            job.until_pod("Running", attempt=1)
            assert job.placement() == {"node-0-0": "b"}
            assert Path(f"/proc/{pid}").exists(), "nobody could stop the first attempt"
        finally:
            os.kill(daemon, signal.SIGCONT)
        until(lambda: not has_job(pool, "a", job))
        assert not Path(f"/proc/{pid}").exists()
        gate.touch()
        assert job.end()["succeeded"]
        assert won.read_text() == "2\n"
        assert job.status()["restartsCountTowardsMax"] == 0


def test_the_logs_of_all_hosts_keep_to_the_limit_of_the_job() -> None:
    with pool_agent(hosts=2, cpus=1) as pool:
        script = "i=0; while [ $i -lt 3000 ]; do echo 0123456789; i=$((i+1)); done"
        spec = jobset(role("node", container("main", script), **PAIR))
        job = pool.job(spec, amounts={"cpus": 1}, logs={"limit": 100_000})
        assert job.end()["succeeded"], pool.log()
        logs = list((job.path / "logs").glob("*.log"))
        assert 99_000 < sum(path.stat().st_size for path in logs) < 100_000 + 2 * 400
        assert any(b"reached their limit" in path.read_bytes()[-400:] for path in logs)
        events = [record for record in job.records() if record["type"] == "event"]
        assert "LogLimitReached" in {record["reason"] for record in events}
