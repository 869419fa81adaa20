"""A job in an allocation, from its first step to its end: real processes, and no Slurm."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from dataclasses import dataclass
from typing import Any

import pytest

from trainway.agent.base.testing import container, jobset, role
from trainway.agent.slurm.driver.recorder import path_of
from trainway.agent.slurm.driver.step_pod import UNHEARD
from trainway.agent.slurm.srun import ALWAYS
from trainway.agent.slurm.testing import SlurmJob, slurm_job
from trainway.agent.supervisor.recovery import FENCED
from trainway.json_types import Json

HANGS_ONCE = 'echo "begun $TRAINWAY_RESTART_ATTEMPT"; [ "$TRAINWAY_RESTART_ATTEMPT" != 0 ] || '
HANGS_ONCE += "exec sleep 1000"
CHECKPOINTS = 'trap "echo saved; exit 0" TERM; echo begun; '
CHECKPOINTS += '[ "$TRAINWAY_RESTART_ATTEMPT" != 0 ] || while :; do sleep 1000 & wait; done'
BOTH = ("node-0-0", "node-0-1")
PREEMPTED = "JobId=7 JobState=RUNNING PreemptTime=2026-11-15T15:46:38"
ENDING = "JobId=7 JobState=COMPLETING"


def two(script: str, **more: Any) -> Json:
    """A JobSet of one Job with two pods."""
    return jobset(role("node", container("main", script), parallelism=2, completions=2, **more))


def one(script: str, **more: Any) -> Json:
    return jobset(role("node", container("main", script), **more))


def steps(job: SlurmJob) -> list[list[str]]:
    return [call for call in job.calls() if call[0] == "srun"]


def calls(job: SlurmJob) -> list[list[str]]:
    return [call for call in job.calls() if call[0] != "srun"]


def begun(job: SlurmJob, *pods: str) -> subprocess.Popen[bytes]:
    """A driver whose pods, or whose only one, have said that they have begun."""
    driver = job.drive()
    for pod in pods or BOTH[:1]:
        job.until_log(f"{pod}.main.0", "begun")
    return driver


def kill_tasks(job: SlurmJob) -> None:
    for pid in job.agents():
        os.kill(pid, signal.SIGKILL)


def uid_of(job: SlurmJob, pod: str) -> str:
    """The uid of a pod, once it runs."""
    return str(job.until_record(type="pod", pod=pod, phase="Running")["uid"])


def last_word_of(job: SlurmJob, uid: str) -> Json:
    """What the task of a pod wrote last about it."""
    found: Json = json.loads((job.path / path_of(uid)).read_text().splitlines()[-1])
    return found


def failed_pod(job: SlurmJob) -> Json:
    """The last record of a pod that failed."""
    found = job.find(type="pod", phase="Failed")
    assert found is not None
    return found


def restarts(job: SlurmJob) -> int:
    found = job.until_record(type="status")
    return int(found["jobset"]["restarts"])


def test_pods_of_a_job_are_tasks_of_one_step() -> None:
    script = "echo $TRAINWAY_RANK $TRAINWAY_FENCING_TOKEN $SLURMD_NODENAME"
    script += ' $SLURM_JOB_ID "${SLURM_PROCID-none} ${SLURM_NTASKS-none}" $CUDA_VISIBLE_DEVICES'
    with slurm_job(two(script)) as job:
        job.line.append("--gpus-per-task=1")
        assert job.run() == 0, job.said()
        assert job.log("node-0-0.main.0") == ["0 7.0 a 7 none none 0"]
        assert job.log("node-0-1.main.0") == ["1 7.0 b 7 none none 1"]
        options = ["--job-name=node-0", "--ntasks=2", "--nodes=2", "--distribution=arbitrary"]
        assert steps(job) == [[*job.line, *options, *ALWAYS]]
        assert job.records()[-1]["type"] == "end"
        assert job.records()[-1]["succeeded"]
        placed = job.find(type="placement")
        assert placed is not None
        assert placed["hosts"] == {"node-0-0": "a", "node-0-1": "b"}


def test_a_job_that_fails() -> None:
    with slurm_job(one("exit 3")) as job:
        assert job.run() == 1
        assert not job.records()[-1]["succeeded"]
        assert failed_pod(job)["containers"][0]["exitCode"] == 3


def test_a_pod_that_is_tried_again_shares_the_place_of_the_first_one() -> None:
    script = '[ "$TRAINWAY_RANK" = 0 ] && exec sleep 1000; echo $CUDA_VISIBLE_DEVICES; '
    script += "[ -e tried ] || { touch tried; exit 1; }; exec sleep 1000"
    with slurm_job(two(script, backoffLimit=1)) as job:
        job.nodes, job.tasks = "a", "2"
        job.line.append("--gpus-per-task=1")
        driver = job.drive()
        job.until(lambda: len(steps(job)) == 2)
        job.until(lambda: job.log("node-0-1.main.0") == ["1", "1"])
        head = ["srun", "--exact", "--kill-on-bad-exit=0", "--gres=gpu:2", "--mem=0", "--overlap"]
        tail = ["--job-name=node-0-1", "--ntasks=1", "--nodes=1", "--nodelist=a"]
        assert steps(job)[1] == [*head, *tail, *ALWAYS]
        job.wish("cancel")
        driver.send_signal(signal.SIGTERM)
        assert job.end_of(driver) == 1


def test_what_a_lost_step_holds_for_ever_is_shared() -> None:
    spec = two('[ "$TRAINWAY_RESTART_ATTEMPT" != 0 ]')
    spec["spec"]["failurePolicy"] = {"maxRestarts": 1}
    with slurm_job(spec) as job:
        job.stick()
        assert job.run() == 0, job.said()
        first, second = steps(job)
        assert "--overlap" not in first
        assert "--overlap" in second


def test_pods_beyond_those_at_once_take_places_that_are_free() -> None:
    script = 'echo done; [ "$TRAINWAY_RANK" != 0 ] || while [ ! -e go ]; do sleep 0.05; done; '
    script += '[ "$TRAINWAY_RANK" != 4 ] || touch go'
    spec = jobset(role("node", container("main", script), parallelism=2, completions=5))
    with slurm_job(spec) as job:
        assert job.run() == 0, job.said()
        assert len(steps(job)) == 4
        last = job.find(type="pod", pod="node-0-4", phase="Succeeded")
        assert last is not None
        assert (last["host"], last["place"]) == ("b", "node-0-1")


def test_the_next_attempt_goes_on_where_a_driver_died() -> None:
    with slurm_job(two(HANGS_ONCE)) as job:
        driver = begun(job, *BOTH)
        driver.kill()
        job.until(lambda: job.processes() == [])
        os.utime(job.path / "heartbeat", (0, 0))
        assert job.run(restarts=1) == 0, job.said()
        assert restarts(job) == 1
        assert job.log("node-0-0.main.1") == ["begun 1"]
        lost = job.find(type="pod", pod="node-0-0", attempt=0)
        assert lost is not None
        assert lost["reason"] in ("AllocationLost", "Fenced")
        assert (job.path / "token").read_text() == "7.1"


def test_what_ended_while_nobody_listened_counts() -> None:
    script = '[ "$TRAINWAY_RANK" = 0 ] || while [ ! -e go ]; do sleep 0.05; done; echo once'
    with slurm_job(two(script)) as job:
        driver = job.drive()
        uid_of(job, "node-0-1")
        job.until_record(type="pod", pod="node-0-0", phase="Succeeded")
        driver.send_signal(signal.SIGSTOP)
        (job.path.parent / "go").touch()
        job.until(lambda: job.agents() == [])
        driver.kill()
        os.utime(job.path / "heartbeat", (0, 0))
        assert job.run(restarts=1) == 0, job.said()
        assert restarts(job) == 0
        assert job.log("node-0-1.main.0") == ["once"]
        assert len(steps(job)) == 1


@pytest.mark.parametrize(
    ("state", "reason"), [("ALLOCATED", "Preempted"), ("DOWN+NOT_RESPONDING", "AllocationLost")]
)
def test_an_allocation_that_is_taken_away(state: str, reason: str) -> None:
    with slurm_job(two(CHECKPOINTS)) as job:
        driver = begun(job, *BOTH)
        job.say_of_nodes(state)
        driver.send_signal(signal.SIGTERM)
        job.until((job.path / "left").exists)
        assert job.log("node-0-0.main.0") == ["begun", "saved"]
        assert job.find(type="event", reason="AllocationLost") is not None
        assert job.find(type="agent", event="stopping") is not None
        job.until(lambda: job.looks() > 1)
        assert driver.poll() is None  # a script that ends would be a job that has completed
        job.say_of_job(ENDING)
        assert job.end_of(driver) == 1
        assert job.find(type="end") is None
        assert job.run(restarts=1) == 0, job.said()
        assert restarts(job) == 1
        events = [each for each in job.records() if each["type"] == "event"]
        told = [each["reason"] for each in events if "attempt 7.1" in str(each["message"])]
        assert told == [reason]


def test_a_preemption_that_only_the_steps_are_told_of() -> None:
    with slurm_job(two(CHECKPOINTS)) as job:
        begun(job, *BOTH)
        job.say_of_job(PREEMPTED)
        for pid in job.agents(uid_of(job, "node-0-0")):
            os.kill(pid, signal.SIGTERM)
        job.until((job.path / "left").exists)
        assert job.log("node-0-1.main.0") == ["begun", "saved"]
        assert job.find(type="end") is None


def test_the_time_limit() -> None:
    with slurm_job(one(CHECKPOINTS)) as job:
        driver = begun(job)
        driver.send_signal(signal.SIGUSR1)
        assert job.end_of(driver) == 1
        assert job.log("node-0-0.main.0") == ["begun", "saved"]
        assert job.records()[-1]["reason"] == "TimeLimit"


def test_a_warning_before_a_preemption() -> None:
    with slurm_job(one(CHECKPOINTS)) as job:
        driver = begun(job)
        job.say_of_job(PREEMPTED)
        driver.send_signal(signal.SIGUSR1)
        job.until((job.path / "left").exists)
        assert job.find(type="end") is None


def test_cancel() -> None:
    with slurm_job(one(CHECKPOINTS)) as job:
        driver = begun(job)
        job.wish("cancel")
        driver.send_signal(signal.SIGTERM)
        end = job.until_record(type="end")
        assert end["reason"] == "Cancelled"
        assert job.end_of(driver) == 1
        assert calls(job) == [["scancel", "7"]]
        assert job.log("node-0-0.main.0") == ["begun", "saved"]


def test_suspend_and_resume() -> None:
    script = "echo begun; [ -e go ] || exec sleep 1000"
    with slurm_job(one(script)) as job:
        driver = begun(job)
        job.wish("suspend")
        driver.send_signal(signal.SIGTERM)
        job.until((job.path / "stopped").exists)
        assert (job.path / "stopped").read_text() == "7.0"
        assert not job.processes()
        job.say_of_job(ENDING)
        assert job.end_of(driver) == 1
        (job.path.parent / "go").touch()
        job.wish("run")
        assert job.run(restarts=1) == 0, job.said()
        assert restarts(job) == 0


def test_an_attempt_gives_way_to_a_newer_one() -> None:
    with slurm_job(two(HANGS_ONCE)) as job:
        driver = begun(job, *BOTH)
        written = len(job.records())
        assert job.run(restarts=1) == 0, job.said()
        assert job.end_of(driver) == 75
        tokens = [record.get("token") for record in job.records()[written:]]
        assert "7.0" not in tokens
        assert [record["seq"] for record in job.records()] == list(range(len(job.records())))
        assert restarts(job) == 1


def test_an_attempt_that_comes_too_late_does_nothing() -> None:
    with slurm_job(one("true")) as job:
        (job.path / "token").write_text("7.1")
        assert job.run() == 75
        assert steps(job) == []
        assert job.records() == []


def test_pods_that_do_not_hear_their_driver_kill_themselves() -> None:
    """After how long they do is for `Pulse` to say: see fencing_test."""
    with slurm_job(one(HANGS_ONCE)) as job:
        driver = begun(job)
        uid = uid_of(job, "node-0-0")
        driver.send_signal(signal.SIGSTOP)
        job.until(lambda: job.agents() == [])
        assert job.processes() == []
        said = last_word_of(job, uid)
        assert (said["reason"], said["message"]) == (FENCED, UNHEARD)
        driver.send_signal(signal.SIGCONT)
        assert job.end_of(driver) == 0, job.said()
        assert restarts(job) == 1


def test_a_task_that_vanishes_has_slurm_begin_anew() -> None:
    with slurm_job(two(HANGS_ONCE)) as job:
        driver = begun(job, *BOTH)
        kill_tasks(job)
        assert job.end_of(driver) == 1
        assert calls(job) == [["scontrol", "requeue", "7"]]
        assert job.find(type="end") is None
        assert job.run(restarts=1) == 0, job.said()
        assert restarts(job) == 1


def test_without_requeue_it_is_begun_anew_here() -> None:
    with slurm_job(one(HANGS_ONCE), slurm={"requeue": False}) as job:
        driver = begun(job)
        kill_tasks(job)
        assert job.end_of(driver) == 0, job.said()
        assert restarts(job) == 1


def test_a_failure_waits_until_the_other_nodes_were_heard() -> None:
    script = '[ "$TRAINWAY_RANK" = 1 ] && exec sleep 1000; '
    script += "while [ ! -e go ]; do sleep 0.05; done; exit 1"
    with slurm_job(two(script)) as job:
        driver = job.drive()
        failing = job.path / path_of(uid_of(job, "node-0-0"))
        (agent,) = job.agents(uid_of(job, "node-0-1"))
        os.kill(agent, signal.SIGSTOP)
        (job.path.parent / "go").touch()
        job.until(lambda: '"Failed"' in failing.read_text())
        assert job.find(type="pod", pod="node-0-0", phase="Failed") is None
        os.kill(agent, signal.SIGKILL)
        assert job.end_of(driver) == 1
        assert job.find(type="end") is None
        assert calls(job) == [["scontrol", "requeue", "7"]]


def test_a_failure_counts_once_the_other_nodes_were_heard() -> None:
    with slurm_job(two('[ "$TRAINWAY_RANK" = 1 ] && exec sleep 1000; exit 4')) as job:
        assert job.run() == 1
        assert job.records()[-1]["reason"] == "FailedJobs"


@dataclass(frozen=True)
class Case:
    name: str
    said: str
    reason: str


SRUN_FAILURES = [
    Case("busy", "srun: error: Unable to create step for job 7: busy", "FailedCreate"),
    Case("too little memory", "srun: error: a: task 0: Out Of Memory", "OOMKilled"),
]


@pytest.mark.parametrize("case", SRUN_FAILURES, ids=lambda case: case.name)
def test_a_step_that_cannot_start(case: Case) -> None:
    with slurm_job(one("true")) as job:
        text = f"#!/bin/sh\necho '{case.said}' >&2; exit 1\n"
        (job.path.parent / "bin" / "srun").write_text(text)
        assert job.run() == 1
        failed = failed_pod(job)
        assert (failed["reason"], failed["message"]) == (case.reason, case.said)


def test_a_launcher_reaches_pods_on_this_node_and_on_others() -> None:
    launch = "for pod in trial-node-0-0 trial-node-0-1.trial; do "
    launch += "trainway-srun -x $pod 'echo $TRAINWAY_ROLE $TRAINWAY_RANK' '$SLURMD_NODENAME'; done"
    launch += "; trainway-srun trial-node-0-1 exit 3; echo $?; touch done"
    work = "while [ ! -e done ]; do sleep 0.05; done"
    spec = jobset(
        role("launcher", container("main", launch)),
        role("node", container("main", work), parallelism=2, completions=2),
    )
    settings = {"roles": {"launcher": {"overlap": True}}}
    with slurm_job(spec, slurm=settings) as job:
        assert job.run() == 0, job.said()
        assert job.log("launcher-0-0.main.0") == ["node 0 a", "node 1 b", "3"]
        joins = [call for call in steps(job) if "--gres=none" in call]
        assert {word for call in joins for word in call if "nodelist" in word} == {"--nodelist=b"}


def test_events_of_pods_come_to_the_journal() -> None:
    volume = {"name": "gone", "configMap": {"name": "missing"}}
    with slurm_job(one("true", pod={"volumes": [volume]})) as job:
        assert job.run() == 1
        event = job.until_record(type="event", reason="FailedMount")
        assert event["object"] == "Pod/node-0-0"
        assert json.dumps(event).count("uid") == 0
