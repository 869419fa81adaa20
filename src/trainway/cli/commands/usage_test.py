import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from trainway.cli.app import app
from trainway.sdk.testing import FakeServer


@pytest.fixture
def fake(training_folder: Path) -> Iterator[FakeServer]:
    with FakeServer(training_folder / "home") as server:
        items = [{"name": "nlp", "jobs": 2, "gpuHours": 12.5, "cpuHours": 0.0123}]
        items += [{"name": "", "jobs": 1, "gpuHours": 0.0, "cpuHours": 3.0}]
        server.usage = {
            "items": items,
            "total": {"jobs": 3, "gpuHours": 12.5, "cpuHours": 3.0123},
        }
        yield server


def invoke(*args: str) -> Result:
    return CliRunner().invoke(app, ["usage", *args], prog_name="trainway")


def test_hours_by_label(fake: FakeServer) -> None:
    result = invoke("--by", "label", "team", "--since", "2026-11-15T00:00:00Z")
    assert result.stdout.splitlines() == [
        "TEAM    JOBS  GPU-HOURS  CPU-HOURS",
        "nlp     2     12.50      0.0123",
        "(none)  1     0.00       3.00",
        "total   3     12.50      3.01",
    ]
    path = fake.requests[-1][1]
    assert path.endswith("/usage?by=label&key=team&since=2026-11-15T00%3A00%3A00Z")
    csv = invoke("--by", "label", "team", "-o", "csv").stdout.splitlines()
    assert csv == ["team,jobs,gpuHours,cpuHours", "nlp,2,12.5,0.0123", ",1,0.0,3.0"]
    assert json.loads(invoke("-o", "json").stdout) == fake.usage


@pytest.mark.parametrize(
    "words", [("--by", "label"), ("team",), ("--by", "day", "team"), ("--since", "soon")]
)
def test_what_makes_no_sense_is_refused(fake: FakeServer, words: tuple[str, ...]) -> None:
    result = invoke(*words)
    assert (result.exit_code, fake.requests) == (2, [])
    assert result.stderr.startswith("error: ")
