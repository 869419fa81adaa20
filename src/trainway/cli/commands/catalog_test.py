"""`trainway catalog`, with files of the test."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from trainway.cli.app import app

TEXT = "InstanceType,vCPUs,MemoryGiB,Price,Region\na,1,1,1,r\n"


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRAINWAY_HOME", str(tmp_path / "home"))
    for name in ("GOOGLE_API_KEY", "TRAINWAY_CATALOG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    Path("there").mkdir()
    Path("there/aws.csv").write_text(TEXT)
    Path("there/gcp.csv").write_text(TEXT)


def invoke(*words: str) -> Result:
    return CliRunner().invoke(app, ["catalog", *words], prog_name="trainway")


def test_where_nothing_was_fetched_the_next_step_is_said() -> None:
    listed = invoke("list")
    assert (listed.exit_code, listed.stdout) == (0, "")
    assert "has no files: the prices that come with Trainway count" in listed.stderr
    assert "hint: trainway catalog refresh fetches newer ones" in listed.stderr


def test_a_folder_is_taken_over_and_edits_stay() -> None:
    assert invoke("refresh", "--from", "there").stdout == "aws: 1 offer\ngcp: 1 offer\n"
    Path("home/catalog/aws.csv").write_text(TEXT + "mine,1,1,1,r\n")
    again = invoke("refresh", "--from", "there")
    assert (again.exit_code, again.stdout) == (1, "gcp: 1 offer\n")
    assert "aws.csv was edited, so it stays as it is" in again.stderr
    listed = json.loads(invoke("list", "-o", "json").stdout)
    assert [(each["cloud"], each["state"]) for each in listed] == [
        ("aws", "edited"),
        ("gcp", "fetched"),
    ]


def test_the_folder_that_a_variable_names_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert invoke("refresh", "--from", "there", "--cloud", "aws").exit_code == 0
    monkeypatch.setenv("TRAINWAY_CATALOG", "there")
    listed = json.loads(invoke("list", "-o", "json").stdout)
    assert [(each["cloud"], each["file"]) for each in listed] == [
        ("aws", "there/aws.csv"),
        ("gcp", "there/gcp.csv"),
    ]


@pytest.mark.parametrize(
    "words",
    [
        ("--from", "there/aws.csv"),
        ("--from", "there", "--cloud", "oci"),
        ("--from", "there", "--region", "us-east-1"),
        ("--cloud", "../evil"),
    ],
)
def test_what_makes_no_sense_is_refused(words: tuple[str, ...]) -> None:
    result = invoke("refresh", *words)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert not Path("home/catalog").exists()


def test_what_cannot_be_fetched_is_said() -> None:
    result = invoke("refresh", "--cloud", "oci")
    assert (result.exit_code, "publishes no price list" in result.stderr) == (1, True)
    result = invoke("refresh", "--cloud", "aws", "--from", "none.csv")
    assert (result.exit_code, "none.csv cannot be read" in result.stderr) == (1, True)
