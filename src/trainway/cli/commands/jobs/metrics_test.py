import json

import yaml
from click.testing import CliRunner, Result

from trainway.cli.app import app
from trainway.json_types import Json
from trainway.sdk.testing import FakeServer


def invoke(*args: str) -> Result:
    return CliRunner().invoke(app, ["jobs", "metrics", *args], prog_name="trainway")


def point(step: int | None, value: float) -> Json:
    return {"step": step, "time": f"2026-11-15T05:10:{step or 0:02}.000000Z", "value": value}


LOSS = [point(1, 2.0), point(2, 0.125)]
SPEED = [point(None, 1e12)]


def with_metrics(fake: FakeServer) -> None:
    data = fake.add_job("a", "Succeeded")
    fake.metrics[data["metadata"]["id"]] = {"loss": LOSS, "speed": SPEED}


def test_the_table_has_the_last_and_the_extreme_values(fake: FakeServer) -> None:
    with_metrics(fake)
    assert [line.split() for line in invoke("a").stdout.splitlines()] == [
        ["SERIES", "STEP", "LAST", "MIN", "MAX"],
        ["loss", "2", "0.125", "0.125", "2"],
        ["speed", "-", "1e+12", "1e+12", "1e+12"],
    ]
    assert fake.requests[-1][1].endswith("/metrics?fields=summary")


def test_points_as_data(fake: FakeServer) -> None:
    with_metrics(fake)
    wanted = {"series": {"loss": LOSS, "speed": SPEED}}
    assert json.loads(invoke("a", "-o", "json").stdout) == wanted
    assert yaml.safe_load(invoke("a", "-o", "yaml").stdout) == wanted
    invoke("a", "--series", "loss", "--series", "speed", "-o", "json")
    assert "series=loss&series=speed" in fake.requests[-1][1]


def test_every_series_is_drawn(fake: FakeServer) -> None:
    with_metrics(fake)
    lines = invoke("a", "--plot").stdout.splitlines()
    assert lines[0] == "loss"
    assert lines[1].startswith("    2 |*")
    assert lines[12].startswith("0.125 |")
    assert lines[12].endswith("*")
    assert lines[14].split() == ["1", "step", "2"]
    assert lines[16] == "speed"
    assert lines[-1].split() == ["0", "seconds", "0"]
    assert max(map(len, lines)) <= 80


def test_new_points_are_printed_until_the_end(fake: FakeServer) -> None:
    with_metrics(fake)
    rows = [line.split() for line in invoke("a", "-w", "--series", "loss").stdout.splitlines()]
    assert [row[1:] for row in rows] == [
        ["STEP", "SERIES", "VALUE"],
        ["1", "loss", "2"],
        ["2", "loss", "0.125"],
    ]
    assert json.loads(invoke("a", "-w", "-o", "json").stdout)["series"]["speed"] == SPEED


def test_a_job_without_metrics_says_so(fake: FakeServer) -> None:
    fake.add_job("a", "Running")
    for args in ((), ("--plot",)):
        result = invoke("a", *args)
        assert result.stdout == ""
        assert result.stderr == "the job has not reported any metrics yet\n"
    assert json.loads(invoke("a", "-o", "json").stdout) == {"series": {}}
