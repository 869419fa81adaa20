"""Which of several places a job goes to: `run --on any` and `plan`."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from trainway.cli.app import app
from trainway.cli.commands.conftest import TRAIN
from trainway.jobset.labels import SLURM_OPTIONS
from trainway.json_types import Json
from trainway.sdk import bundle
from trainway.sdk.testing import FakeServer


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRAINWAY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("KUBECONFIG", "/nowhere")
    Path("a.yaml").write_text(json.dumps(TRAIN))
    with FakeServer(tmp_path / "home") as server:
        yield server


def invoke(*args: str, stdin: str = "") -> Result:
    return CliRunner().invoke(app, args, input=stdin, prog_name="trainway")


def bodies(fake: FakeServer, path: str) -> list[Json]:
    return [body for _, url, body in fake.requests if url.endswith(path)]


def test_a_job_goes_to_the_place_that_is_chosen_and_the_table_says_why(fake: FakeServer) -> None:
    fake.places.fits = {"slurm/hpc": "now", "local": "later"}
    result = invoke("run", "-d", "--on", "local,slurm/hpc", "a.yaml")
    assert (result.exit_code, result.stdout) == (0, "a id0000\n")
    assert result.stderr.splitlines()[:3] == [
        "    PLACE      FITS   PRICE  AHEAD  WHY",
        "->  slurm/hpc  now    -      0      why",
        "    local      later  -      0      why",
    ]
    (asked,) = bodies(fake, "/placements")
    assert asked["prefer"] == "order"
    (submitted,) = bodies(fake, "/jobs")
    assert submitted["options"]["backend"] == "slurm/hpc"
    assert "environ" not in submitted["options"]  # which goes to this machine only


def test_each_place_is_asked_with_what_would_be_submitted_there(fake: FakeServer) -> None:
    fake.places.fits = {"local": "now", "ssh/lab": "now", "cluster/dev": "now"}
    assert invoke("run", "-d", "--on", "any", "-", stdin=json.dumps(TRAIN)).exit_code == 0
    assert bodies(fake, "/places") == [{"kubeconfig": ["/nowhere"]}]
    (asked,) = bodies(fake, "/placements")
    here, there = asked["candidates"]
    assert asked["prefer"] == "cost"
    assert (here["options"]["backend"], there["options"]["backend"]) == ("local", "ssh/lab")
    assert "environ" in here["options"]
    assert "environ" not in there["options"]


def test_options_of_slurm_are_for_the_places_on_slurm(fake: FakeServer) -> None:
    words = ("--recovery-strategy", "failover", "--slurm", "no-requeue", "a.yaml")
    for on in ("slurm/hpc,local", "local,slurm/hpc"):
        fake.places.fits = dict.fromkeys(on.split(","), "now")
        result = invoke("run", "-d", "--on", on, *words)
        assert result.exit_code == 0, result.output
    first, second = bodies(fake, "/jobs")
    for sent, other in ((first, "local"), (second, "slurm/hpc")):
        assert [each["backend"] for each in sent["options"]["candidates"]] == [other]
    assert SLURM_OPTIONS in str(first["objects"])
    assert SLURM_OPTIONS not in str(first["options"])
    assert SLURM_OPTIONS not in str(second["objects"])
    assert SLURM_OPTIONS in str(second["options"])
    refused = invoke("run", "-d", "--on", "ssh/lab,local", *words)
    assert "options of Slurm can only be used for jobs on Slurm" in refused.output


def test_objects_of_a_dry_run_are_alone_on_stdout(fake: FakeServer) -> None:
    result = invoke("run", "--dry-run", "--on", "local,ssh/lab", "a.yaml")
    assert result.stdout.startswith("apiVersion: trainer.kubeflow.org/v1alpha1\n")
    assert "->  local" in result.stderr
    assert not bodies(fake, "/jobs")


def test_no_file_goes_ahead_of_a_dry_run(fake: FakeServer) -> None:
    fake.places.fits = {"local": "now", "ssh/lab": "now"}
    Path("data").write_bytes(bytes(2_000_000))
    Path("t.yaml").write_text("{run: 'true', file_mounts: {/tmp/data: ./data}}")
    result = invoke("run", "--dry-run", "--max-wait", "9m", "--on", "local,ssh/lab", "t.yaml")
    assert result.exit_code == 0, result.output
    assert not [url for _, url, _ in fake.requests if url.endswith(("/missing", "/files"))]


def test_a_job_that_no_place_takes_is_not_submitted(fake: FakeServer) -> None:
    fake.places.fits = {"local": "never", "ssh/lab": "never"}
    result = invoke("run", "--on", "local,ssh/lab", "a.yaml")
    assert result.exit_code == 1
    assert "error: no place takes the job" in result.stderr
    assert "ssh/lab: why" in result.stderr
    assert not bodies(fake, "/jobs")


def test_plan_prints_the_table_and_submits_nothing(fake: FakeServer) -> None:
    result = invoke("plan", "a.yaml")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        "    PLACE  FITS  PRICE  AHEAD  WHY\n->  local  now   -      0      why\n"
    )
    shown = json.loads(invoke("plan", "-o", "json", "--on", "local", "--", "true").stdout)
    assert (shown["chosen"], shown["offers"][0]["fit"]) == ("local", "now")
    assert not bodies(fake, "/jobs")
    fake.places.fits = {"local": "never"}
    assert invoke("plan", "a.yaml").exit_code == 1


@pytest.mark.parametrize(
    ("on", "said"),
    [
        ("local,", "'local,' has an empty place"),
        ("any,local", "any stands for all places"),
    ],
)
def test_a_list_that_is_wrong_is_refused(fake: FakeServer, on: str, said: str) -> None:
    result = invoke("run", "--on", on, "a.yaml")
    assert result.exit_code == 2
    assert said in result.stderr
    assert not fake.requests


def test_a_job_that_cannot_be_written_for_a_place_says_so_there(
    fake: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.places.fits = {"local": "now"}
    monkeypatch.setattr(bundle, "LARGEST", 10)
    Path("a.py").write_text("print('more than ten bytes')\n")
    result = invoke("plan", "--on", "local,slurm/hpc", "a.py")
    assert result.exit_code == 0, result.output
    assert "->  local" in result.stdout
    assert "slurm/hpc  never" in result.stdout
