"""`trainway clouds` with what a server says of clouds."""

import json
from dataclasses import dataclass, field
from typing import Final

import pytest
from click.testing import CliRunner, Result

from trainway.cli.app import app
from trainway.cli.commands import clouds
from trainway.json_types import Json

AWS: Final[Json] = {
    "name": "aws", "usable": True, "account": "123", "user": "ada", "source": "AWS_PROFILE",
    "regions": ["us-east-1", "us-west-2"], "problem": "", "hint": "", "missing": {},
}  # fmt: skip
GCP: Final[Json] = {
    "name": "gcp", "usable": False, "account": "", "user": "", "source": "", "regions": [],
    "problem": "no credentials", "hint": "log in", "missing": {},
}  # fmt: skip
ORPHAN: Final[Json] = {
    "cloud": "aws", "region": "us-east-1", "id": "i-1", "cluster": "old", "token": "t",
    "instanceType": "p5", "state": "running", "ended": False, "problem": "",
}  # fmt: skip


@dataclass
class Rest:
    """A server with one good cloud and one orphan."""

    machines: list[Json] = field(default_factory=lambda: [ORPHAN])
    swept: list[bool] = field(default_factory=list)
    problem: str = ""
    places: list[str] = field(default_factory=lambda: ["aws/us-east-1", "aws/us-west-2"])

    def clouds(self) -> list[Json]:
        return [AWS, GCP]

    def sweep(self, *, dry_run: bool) -> Json:
        self.swept.append(dry_run)
        ends = not dry_run and not self.problem
        told = "" if dry_run else self.problem
        machines = [{**each, "ended": ends, "problem": told} for each in self.machines]
        problems = ["gcp: no credentials"]
        return {"machines": machines, "problems": problems, "places": self.places}


@pytest.fixture
def rest(monkeypatch: pytest.MonkeyPatch) -> Rest:
    made = Rest()
    monkeypatch.setattr(clouds, "_connected", lambda: made)
    return made


def invoke(*words: str) -> Result:
    return CliRunner().invoke(app, ["clouds", *words])


@pytest.mark.usefixtures("rest")
def test_a_check_says_who_we_are_and_what_is_missing() -> None:
    told = invoke("check")

    assert told.exit_code == 0
    assert "aws    yes     123      ada   AWS_PROFILE  2" in told.stdout
    assert told.stdout.endswith("gcp: no credentials (log in)\n")
    assert json.loads(invoke("check", "aws", "-o", "json").stdout)["items"] == [AWS]
    assert invoke("check", "AWS").exit_code == 0


@pytest.mark.usefixtures("rest")
def test_a_named_cloud_that_cannot_be_used_fails_the_check() -> None:
    assert invoke("check", "gcp").exit_code == 1
    unknown = invoke("check", "awz")
    assert unknown.exit_code == 3
    assert "clouds: aws, gcp" in unknown.stderr


def test_a_sweep_ends_nothing_unless_it_is_meant(rest: Rest) -> None:
    listed = invoke("sweep", "--dry-run")
    assert "i-1" in listed.stdout
    assert "not looked at: gcp: no credentials" in listed.stderr
    assert invoke("sweep").exit_code == 2, "there is nobody to ask"
    assert invoke("sweep", "--dry-run", "--yes").exit_code == 2
    assert rest.swept == [True, True]
    assert invoke("sweep", "--yes").stdout.endswith("i-1 ended\n")
    assert rest.swept[2:] == [True, False]
    assert json.loads(invoke("sweep", "-y", "-o", "json").stdout)["machines"][0]["ended"]


def test_what_could_not_be_ended_fails_the_sweep(rest: Rest) -> None:
    rest.problem = "denied"
    failed = invoke("sweep", "-y")

    assert failed.exit_code == 1
    assert "i-1 not ended: denied" in failed.stdout


def test_nothing_left_over_is_said(rest: Rest) -> None:
    rest.machines = []

    assert invoke("sweep", "-y").stdout == "no machine is left over in 2 regions\n"
    assert rest.swept == [True]


def test_a_sweep_that_could_look_nowhere_fails(rest: Rest) -> None:
    rest.machines, rest.places = [], []
    failed = invoke("sweep", "-y")

    assert failed.exit_code == 1
    assert "no cloud could be looked at" in failed.stderr
