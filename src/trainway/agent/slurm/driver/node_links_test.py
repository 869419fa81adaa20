"""A job on two nodes that share no files: real processes, and neither Slurm nor a relay."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

from trainway.agent.base.testing import container, jobset, role
from trainway.agent.slurm.testing import ScatteredJob, scattered_job

OUTPUT = "$TRAINWAY_OUTPUT_DIR"


def two(script: str) -> dict[str, object]:
    return jobset(role("node", container("main", script), parallelism=2, completions=2))


def until_over(job: ScatteredJob) -> None:
    job.until_record(type="end")


def take(job: ScatteredJob) -> None:
    """What the relay does when it knows all."""
    (job.path / "taken").touch()


def test_what_pods_leave_on_other_nodes_comes_to_the_driver() -> None:
    script = f'echo "I am $TRAINWAY_RANK"; echo $TRAINWAY_RANK > {OUTPUT}/rank-$TRAINWAY_RANK'
    with scattered_job(two(script)) as job:
        driver = job.drive()
        until_over(job)
        assert [job.log(f"node-0-{rank}.main.0") for rank in (0, 1)] == [["I am 0"], ["I am 1"]]
        output = job.path / "output"
        assert [(output / f"rank-{rank}").read_text() for rank in (0, 1)] == ["0\n", "1\n"]
        other = Path(str(job.path).replace("/a/", "/b/"))
        assert sorted(path.name for path in (other / "output").iterdir()) == ["rank-1"]
        assert driver.poll() is None
        take(job)
        assert job.end_of(driver) == 0
        assert job.left() == []


def test_the_end_of_a_pod_comes_after_all_that_it_left() -> None:
    lines = 2000
    script = f"""
    seq {lines}; head -c 1000000 /dev/zero > {OUTPUT}/zeros-$TRAINWAY_RANK; touch $TRAINWAY_RANK
    until [ -e 0 ] && [ -e 1 ]; do sleep 0.05; done  # the first failure ends the other pod
    exit 1
    """
    with scattered_job(two(script)) as job:
        driver = job.drive()
        until_over(job)
        for rank in (0, 1):
            assert len(job.log(f"node-0-{rank}.main.0")) == lines
            assert (job.path / "output" / f"zeros-{rank}").stat().st_size == 1_000_000
        take(job)
        assert job.end_of(driver) == 1


def test_what_a_pod_left_while_its_node_was_not_heard_is_waited_for() -> None:
    script = (
        f"echo begun; while [ ! -e go ]; do sleep 0.05; done; echo $? > {OUTPUT}/$TRAINWAY_RANK"
    )
    with scattered_job(two(script)) as job:
        driver = job.drive()
        for rank in (0, 1):
            job.until_log(f"node-0-{rank}.main.0", "begun")
        (feed,) = job.feeds("b")
        os.kill(feed, signal.SIGKILL)
        (job.path.parent.parent / "go").touch()
        until_over(job)
        assert sorted(path.name for path in (job.path / "output").iterdir()) == ["0", "1"]
        take(job)
        assert job.end_of(driver) == 0


def test_a_job_that_is_taken_away_leaves_nothing_on_other_nodes() -> None:
    with scattered_job(two("echo begun; exec sleep 1000")) as job:
        driver = job.drive()
        job.until_log("node-0-1.main.0", "begun")
        job.say_of_job("JobId=7 JobState=COMPLETING")
        driver.send_signal(signal.SIGTERM)
        job.end_of(driver)
        assert job.left() == ["trainway-7.0", "trainway-7.0.x.pyz"]
        records = json.loads((job.path / "journal.jsonl").read_text().splitlines()[-1])
        assert records["type"] != "end"
