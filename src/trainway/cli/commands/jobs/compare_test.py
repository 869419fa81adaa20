"""`trainway jobs compare`: every form of output, the order, and the chart."""

import csv
import io
import json

from click.testing import CliRunner, Result

from trainway.cli.app import app
from trainway.json_types import Json
from trainway.sdk.testing import FakeServer

TRIALS = [
    {"lr": "0.10", "seed": "1", "note": "=1+1"},
    {"lr": "1e-3", "seed": "1", "note": "-0.5"},
    {"lr": "1", "seed": "1", "note": "a|b"},
]
ENDED = {"startTime": "2026-11-15T05:00:00Z", "completionTime": "2026-11-15T05:30:00Z"}


def invoke(*args: str) -> Result:
    return CliRunner().invoke(app, ["jobs", "compare", *args], prog_name="trainway")


def point(step: int | None, value: float) -> Json:
    return {"step": step, "time": f"2026-11-15T05:10:{step or 0:02}.000000Z", "value": value}


def jobs(fake: FakeServer) -> list[Json]:
    """One that got far, one that failed, and one that has reported nothing."""
    made = fake.runs.submit("sweep", {"parameters": TRIALS})
    fake.metrics[made[0]["metadata"]["id"]] = {"loss": [point(1, 2.0), point(2, 0.5)]}
    fake.metrics[made[1]["metadata"]["id"]] = {"loss": [point(1, 0.25), point(2, 0.125)]}
    fake.update(made[0], "Succeeded", **ENDED, usage={"gpuHours": 2.0, "cpuHours": 1.0})
    fake.update(made[1], "Failed", **ENDED, failure={"summary": "node-0 exited with 7"})
    return made


def test_a_table_has_what_differs_and_what_came_of_it(fake: FakeServer) -> None:
    jobs(fake)
    header, first, second, third = invoke("--run", "sweep", "--sort", "loss").stdout.splitlines()
    assert header.split() == [
        "NAME", "PHASE", "lr=", "note=", "loss.last", "loss.min", "loss.max", "DURATION",
        "GPU-HOURS", "END",
    ]  # fmt: skip
    assert first.split() == [
        "sweep-1", "Failed", "1e-3", "-0.5", "0.125", "0.125", "0.25", "30m", "0", "node-0",
        "exited", "with", "7",
    ]  # fmt: skip
    assert second.split()[:7] == ["sweep-0", "Succeeded", "0.10", "=1+1", "0.5", "0.5", "2"]
    assert second.split()[-1] == "2"
    assert third.split()[:2] == ["sweep-2", "Pending"]


def test_how_far_a_job_is_makes_no_column_beside_its_results(fake: FakeServer) -> None:
    made = fake.runs.submit("sweep", {"parameters": TRIALS})
    series = {"loss": [point(1, 0.5)], "progress": [point(1, 40.0)]}
    fake.metrics[made[0]["metadata"]["id"]] = series
    assert "loss.last" in invoke("--run", "sweep").stdout
    assert "progress" not in invoke("--run", "sweep").stdout
    assert json.loads(invoke("sweep-0", "sweep-1", "-o", "json").stdout)[0]["metrics"].keys() == {
        "loss", "progress",
    }  # fmt: skip
    fake.metrics[made[0]["metadata"]["id"]] = {"progress": series["progress"]}
    assert "progress.last" in invoke("--run", "sweep").stdout


def test_the_objects_have_all_of_it(fake: FakeServer) -> None:
    jobs(fake)
    assert json.loads(invoke("sweep-0", "sweep-2", "-o", "json").stdout) == [
        {
            "name": "sweep-0",
            "id": "id0000",
            "phase": "Succeeded",
            "parameters": TRIALS[0],
            "metrics": {"loss": {"last": 0.5, "min": 0.5, "max": 2.0}},
            "seconds": 1800.0,
            "gpu_hours": 2.0,
        },
        {
            "name": "sweep-2",
            "id": "id0002",
            "phase": "Pending",
            "parameters": TRIALS[2],
            "metrics": {},
            "seconds": None,
            "gpu_hours": 0,
        },
    ]


def test_no_cell_is_a_formula_or_another_column(fake: FakeServer) -> None:
    jobs(fake)
    rows = list(csv.DictReader(io.StringIO(invoke("--run", "sweep", "-o", "csv").stdout)))
    assert [row["note="] for row in rows] == ["'=1+1", "-0.5", "a|b"]
    lines = invoke("--run", "sweep", "-o", "markdown").stdout.splitlines()
    assert lines[1].startswith("| --- | --- |")
    assert "a\\|b" in lines[-1]


def test_the_order_is_by_number_and_who_has_none_is_last(fake: FakeServer) -> None:
    jobs(fake)

    def names(*words: str) -> list[str]:
        found = json.loads(invoke("--run", "sweep", "-o", "json", *words).stdout)
        return [job["name"] for job in found]

    assert names("--sort", "lr") == ["sweep-1", "sweep-0", "sweep-2"]
    assert names("--sort", "loss", "--descending") == ["sweep-0", "sweep-1", "sweep-2"]
    assert names("--sort", "nothing") == ["sweep-0", "sweep-1", "sweep-2"]
    said = "warning: no job has a number for 'nothing', so the jobs are not sorted\n"
    assert invoke("--run", "sweep", "--sort", "nothing").stderr == said


def test_a_metric_of_several_jobs_is_one_chart(fake: FakeServer) -> None:
    made = jobs(fake)
    drawn = invoke("--run", "sweep", "--plot", "loss").stdout
    assert drawn.startswith("loss\n")
    assert "* sweep-0   + sweep-1" in drawn
    result = invoke("--run", "sweep", "--plot", "other")
    assert result.exit_code == 2
    assert "none of these jobs has reported other" in result.stderr
    fake.metrics[made[2]["metadata"]["id"]] = {"loss": [point(None, 1.0)]}
    assert "with a step and some without" in invoke("--run", "sweep", "--plot", "loss").stderr


def test_there_must_be_something_to_compare(fake: FakeServer) -> None:
    result = invoke()
    assert (result.exit_code, fake.requests) == (2, [])
    assert "there is nothing to compare" in result.stderr
