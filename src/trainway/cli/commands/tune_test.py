"""`trainway tune`, and searches as `run` and `runs` show them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from trainway.cli.app import app
from trainway.cli.run_following import NoView, ended
from trainway.cli.run_text import best_line, summary
from trainway.json_types import Json

LOSS = ("--objective", "loss:min")


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRAINWAY_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TRAINWAY_SERVER", raising=False)
    path = tmp_path / "train.py"
    path.write_text("print('hello')")
    return path


def tune(*args: str) -> Result:
    return CliRunner().invoke(app, ["tune", *args], prog_name="trainway")


def test_a_dry_run_shows_the_job_and_the_first_trials(script: Path) -> None:
    given = ("--param", "lr=0.1,0.2", "--algorithm", "grid", "--parallel", "2")
    result = tune(str(script), *given, *LOSS, "--dry-run")
    assert result.exit_code == 0, result.stderr
    assert "--lr" in result.stdout
    assert "{lr}" in result.stdout
    assert result.stderr == "trial: lr=0.1\ntrial: lr=0.2\n"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("train.py", "--param", "lr=1,2"), "there is no objective"),
        (("train.py", *LOSS), "there is nothing to search"),
        (("train.py", *LOSS, "--param", "a=1", "--trials", "many"), "--trials many: it must be"),
        (("--continue", "demo"), "how many more trials are not given"),
        (("--continue", "demo", "--trials", "20"), "how many more trials are not given"),
        (("--continue", "demo", "--trials", "+0"), "--trials +0: it must be a number"),
        (("--continue", "demo", "train.py"), "--continue goes on with the script"),
    ],
    ids=lambda item: str(item)[:40],
)
def test_what_is_wrong_is_said(script: Path, args: tuple[str, ...], message: str) -> None:
    result = tune(*args)
    assert result.exit_code == 2
    assert message in result.stderr


class FakeRest:
    """A search that goes on from one question to the next."""

    def __init__(self, states: list[Json]) -> None:
        self._states: Iterator[Json] = iter(states)
        self.last: Json = {}

    def run(self, ref: str) -> Json:
        assert ref == "id0"
        self.last = next(self._states)
        return self.last

    def get(self, ref: str) -> Json:
        return next(job for job in self.last["jobs"] if job["metadata"]["id"] == ref)


def state(*phases: str, end: Json | None = None) -> Json:
    jobs = [
        {
            "metadata": {"id": f"id{index}", "name": f"demo-{index}"},
            "spec": {"run": "id0"},
            "status": {"phase": phase},
        }
        for index, phase in enumerate(phases)
    ]
    best = {"name": "demo-1", "value": 0.25, "parameters": {"lr": "0.1", "bs": "8"}}
    return {
        "metadata": {"id": "id0", "name": "demo"},
        "spec": {"parallel": 1},
        "status": {"phase": "Running", "search": end},
        "search": {"metric": "loss", "trials": 3, "best": best if end else None},
        "jobs": jobs,
    }


def test_a_search_is_followed_until_it_is_over() -> None:
    done = ("Succeeded", "Failed", "Succeeded")
    end = {"type": "Complete"}
    rest: Any = FakeRest([
        state("Running"),
        state("Succeeded"),
        state("Succeeded", "Running"),
        state("Succeeded", "Failed", "Running"),
        state(*done),
        state(*done, end=end),
    ])  # fmt: skip
    names = [
        job["metadata"]["name"]
        for job in ended(rest, state("Running"), NoView(), sleep=lambda _: None)
    ]
    assert names == ["demo-0", "demo-1", "demo-2"]
    assert rest.last["status"]["search"] == end


def test_a_search_in_words() -> None:
    run = state("Succeeded", "Running")
    assert summary(run) == "demo: 2 of 3 trials, at most 1 at a time: 1 succeeded, 1 running"
    assert best_line(run) == "best: no trial has succeeded and reported loss yet"
    over = state("Succeeded", end={"type": "Complete"})
    assert best_line(over) == "best: demo-1 with loss 0.25: lr=0.1 bs=8"
