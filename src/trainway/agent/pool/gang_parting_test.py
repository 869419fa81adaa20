"""A job that one agent lets go of and another one goes on with: the same journal, logs, output."""

from typing import Any

from trainway.agent.base.testing import container, jobset, role
from trainway.agent.local.testing import AgentJob
from trainway.agent.pool.testing import PoolJob, pool_agent, until

LOG = "node-0-0.main.0"
COUNTER = (
    'out="$TRAINWAY_OUTPUT_DIR/step"; i=$(cat "$out" 2>/dev/null || echo 0); echo "from $i";'
    ' trap "exit 0" TERM; while [ ! -e "$TRAINWAY_OUTPUT_DIR/stop" ]; do i=$((i+1));'
    ' echo $i > "$out.new"; mv "$out.new" "$out"; echo "step $i"; sleep 0.05; done'
)
"""Counts from where its checkpoint says, until a file tells it to stop."""


def lines(job: AgentJob) -> list[bytes]:
    """What it has printed so far."""
    return job.log(LOG) if (job.path / "logs" / f"{LOG}.log").exists() else []


def step(job: AgentJob) -> int:
    """How far its checkpoint is; of one that runs on hosts the copy here is older."""
    return int((job.path / "output" / "step").read_text())


def left(job: AgentJob, agent: Any) -> int:
    """Have an agent suspend a job and let go of it; how far it had come."""
    assert agent.ask(job, "suspend")["ok"]
    answer = agent.ask(job, "leave")
    assert answer["ok"], answer
    assert not job.processes()
    return step(job)


def test_a_job_goes_from_this_machine_to_hosts_and_back() -> None:
    with pool_agent(hosts=1, cpus=1) as pool:
        spec = jobset(role("node", container("main", COUNTER)))
        job = pool.job(spec, amounts={"cpus": 1})
        until(lambda: b"o step 2" in lines(job))
        first = left(job, PoolJob)
        assert pool.ask("status")["jobs"] == []

        AgentJob.start(job, "--recover")
        assert AgentJob.ask(job, "resume")["ok"]
        until(lambda: b"o step %d" % (first + 1) in lines(job))
        second = left(job, AgentJob)

        job.start()
        assert job.ask("resume")["ok"]
        until(lambda: b"o step %d" % (second + 1) in lines(job))
        (job.path / "output" / "stop").touch()
        third = left(job, PoolJob)

        AgentJob.start(job, "--recover")
        assert AgentJob.ask(job, "resume")["ok"]
        records = job.records
        until(lambda: records()[-1]["type"] == "end")
        assert records()[-1]["succeeded"]

        begun = [line for line in lines(job) if line.startswith(b"o from")]
        assert begun == [b"o from %d" % number for number in (0, first, second, third)]
        assert [record["seq"] for record in records()] == list(range(len(records())))
        agents = [record["event"] for record in records() if record["type"] == "agent"]
        assert agents == ["started", "left"] * 3 + ["started"]
        assert job.status()["restarts"] == 0


def test_only_a_suspended_job_is_let_go_of() -> None:
    with pool_agent(hosts=1, cpus=1) as pool:
        job = pool.job(jobset(role("node", container("main", COUNTER))), amounts={"cpus": 1})
        until(lambda: lines(job))
        assert job.ask("leave") == {"ok": False, "error": "the job is not suspended"}
        assert job.ask("cancel")["ok"]
        # A job that is not here is not looked after here.
        assert pool.ask("leave", id=job.id) == {"ok": True}
