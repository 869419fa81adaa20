import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from trainway.backends.demand import Demand
from trainway.engine.ledger import Ledger
from trainway.engine.observation import Observation
from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord
from trainway.engine.recovery.cause import cause_of, metric_label
from trainway.engine.statistics import table
from trainway.engine.statistics.jobs import JobStatistics
from trainway.engine.testing import memory_store
from trainway.engine.times import time_text
from trainway.json_types import Json
from trainway.telemetry.job_metrics import SERVER_JOBS

NOW = datetime(2026, 11, 15, 5, tzinfo=UTC)
GPU_DEMAND = {"gpus": 2, "cpus": "1500m", "memory": "1Gi"}


@dataclass
class PlayedJob:
    record: JobRecord
    demand: Demand
    observation: Observation = field(default_factory=Observation)


class Play:
    """A server's statistics, with jobs and a clock that the test moves."""

    def __init__(self) -> None:
        self.now = NOW
        self.live: dict[str, PlayedJob] = {}
        self.ledger = Ledger(memory_store())
        self.statistics = JobStatistics(self.ledger, self.live, lambda: self.now)

    def create(self, id_: str = "a", phase: Phase = Phase.PENDING, **more: Any) -> PlayedJob:
        record = JobRecord(id=id_, name="n", namespace="d", kind="TrainJob", backend="local")
        record = record.with_columns({"created": time_text(self.now)})
        record = record.with_columns({"phase": phase, "demand": GPU_DEMAND, **more})
        job = self.live[id_] = PlayedJob(record, Demand.from_dict(record.demand_data))
        self.statistics.created(record)
        return job

    def change(self, job: PlayedJob, seconds: float = 0.0, **columns: Any) -> None:
        self.now += timedelta(seconds=seconds)
        before, job.record = job.record, job.record.with_columns(columns)
        self.statistics.changed(before, job.record)
        if job.record.is_over:
            self.live.pop(job.record.id, None)

    def page(self) -> str:
        return asyncio.run(self.statistics.page())

    def value(self, *what: Any) -> float | None:
        return self.statistics.registry.value(*what)


def test_the_life_of_a_job() -> None:
    play = Play()
    job = play.create()
    play.change(job, 10, phase=Phase.QUEUED)
    assert "trainway_queue_jobs" in play.page()
    assert play.value(table.QUEUE_LENGTH, "local") == 1
    assert play.value(table.QUEUE_OLDEST, "local") == 10
    play.change(job, 20, phase=Phase.STARTING)
    assert play.value(table.GPUS, "local") == 2
    assert play.value(table.CPUS, "local") == 1.5
    play.change(job, 5, phase=Phase.RUNNING, started=time_text(play.now + timedelta(seconds=5)))
    assert 'trainway_queue_wait_seconds_sum{backend="local"} 30.0\n' in play.page()
    assert 'time_to_running_seconds_sum{backend="local",kind="TrainJob"} 35.0\n' in play.page()
    play.now += timedelta(seconds=100)
    play.page()
    assert play.value(SERVER_JOBS.gpu_seconds, "local") == 200
    play.change(job, 10, phase=Phase.RESTARTING, restarts=1, observed={"culprit": {"hung": True}})
    assert play.value(SERVER_JOBS.gpu_seconds, "local") == 220
    assert play.value(SERVER_JOBS.restarts, "local", "TrainJob", "hang") == 1
    assert play.value(SERVER_JOBS.hangs, "local", "TrainJob") == 1
    play.change(job, 50, phase=Phase.RUNNING)
    play.change(job, 1, phase=Phase.SUCCEEDED)
    assert play.value(SERVER_JOBS.gpu_seconds, "local") == 222
    assert play.value(SERVER_JOBS.finished, "local", "TrainJob", "Succeeded") == 1
    assert play.value(SERVER_JOBS.created, "local", "TrainJob") == 1
    assert play.value(SERVER_JOBS.running, "local", "TrainJob") == 1
    assert play.value(table.QUEUE_WAIT, "local") == 1
    assert "trainway_job_info" not in play.page()


def test_a_job_that_ran_when_the_server_started_holds_its_gpus_since_then() -> None:
    play = Play()
    job = play.create(phase=Phase.RUNNING)
    play.change(job, 30, phase=Phase.FAILED)
    assert play.value(SERVER_JOBS.gpu_seconds, "local") == 60


def test_a_job_that_is_forgotten_leaves_nothing_behind() -> None:
    play = Play()
    job = play.create()
    play.change(job, 3, phase=Phase.STARTING)
    play.change(job, 3, phase=Phase.RUNNING)
    play.live.clear()
    play.statistics.gone(job.record)
    assert not play.statistics._running
    assert not play.statistics._waited
    assert not play.statistics._queued


def test_what_is_told_of_jobs_that_run() -> None:
    play = Play()
    progress = {"progressPercentage": 25, "estimatedRemainingSeconds": "soon"}
    job = play.create(phase=Phase.RUNNING, progress=progress, started=time_text(NOW))
    gpus = {"0": {"utilization": 50, "memory": 7, "power": 300.5, "temperature": 60}}
    used = {"cpu": 150, "memory": 1024, "gpus": gpus}
    place = {"role": "node", "job": 0, "rank": 1, "host": "h1"}
    job.observation.nodes = {"node-0-1": {**place, "usage": used}, "node-0-2": {**place}}
    page = play.page()
    node = 'backend="local",host="h1",job_id="a",node="node-1"'
    gpu = 'backend="local",gpu="0",host="h1",job_id="a",node="node-1"'
    for line in (
        f"trainway_node_cpu_usage_cores{{{node}}} 1.5",
        f"trainway_node_memory_usage_bytes{{{node}}} 1024.0",
        f"trainway_node_gpu_utilization_ratio{{{gpu}}} 0.5",
        f"trainway_node_gpu_memory_used_bytes{{{gpu}}} 7.0",
        f"trainway_node_gpu_power_watts{{{gpu}}} 300.5",
        f"trainway_node_gpu_temperature_celsius{{{gpu}}} 60.0",
        'trainway_job_progress_ratio{job_id="a"} 0.25',
        f'trainway_job_start_timestamp_seconds{{job_id="a"}} {NOW.timestamp()}',
        "trainway_jobs_left_out 0.0",
    ):
        assert f"{line}\n" in page
    assert "trainway_job_remaining_seconds" not in page


def test_the_page_is_bounded_however_many_jobs_run() -> None:
    play = Play()
    used = {"role": "node", "job": 0, "usage": {"cpu": 1, "memory": 1}}
    for number in range(table.MOST_JOBS + 50):
        job = play.create(f"{number:04}", Phase.RUNNING)
        job.observation.nodes = {f"node-0-{rank}": {**used, "rank": rank} for rank in range(9)}
    page = play.page()
    assert page.count("trainway_job_info{") == table.MOST_JOBS
    assert page.count("trainway_node_cpu_usage_cores{") == table.MOST_NODES
    assert "trainway_jobs_left_out 50.0\n" in page
    assert 'job_id="0249"' in page


@pytest.mark.parametrize(
    ("culprit", "cause"),
    [
        ({}, "unknown"),
        ({"exitCode": 3}, "exit_code"),
        ({"exitCode": 137}, "exit_code"),
        ({"exitCode": 137, "outOfMemory": True, "reason": "OOMKilled"}, "out_of_memory"),
        ({"exitCode": 1, "hung": True}, "hang"),
        ({"exitCode": 127, "notStarted": True}, "refused"),
        ({"reason": "NodeLost"}, "node_lost"),
        ({"reason": "PreemptionByScheduler"}, "preempted"),
        ({"reason": "AgentLost"}, "agent_lost"),
    ],
)
def test_causes_of_restarts(culprit: Json, cause: str) -> None:
    assert metric_label(cause_of(culprit)) == cause


def test_several_restarts_at_once_each_have_their_own_cause() -> None:
    play = Play()
    job = play.create("1", Phase.RUNNING)
    endings = [{"attempt": 0, "cause": "NodeLost"}, {"attempt": 1, "cause": "ExitCode"}]
    play.change(job, 10, phase=Phase.RESTARTING, restarts=2, observed={"endings": endings})
    for cause in ("node_lost", "exit_code"):
        assert play.value(SERVER_JOBS.restarts, "local", "TrainJob", cause) == 1
