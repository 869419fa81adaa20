"""Pipelines whose tasks are placed on their own: `run` sends them for all places, `plan` shows."""

import json
from pathlib import Path

import pytest

from trainway.cli.placing_test import bodies, fake, invoke
from trainway.sdk.testing import FakeServer

__all__ = ["fake"]

SPREAD = """\
name: p
---
{name: prepare, run: 'true'}
---
name: train
resources: {ordered: [{infra: ssh/lab}, {infra: local, cpus: 1}]}
run: 'true'
"""
PLAIN = "name: p\n---\n{name: a, run: 'true'}\n---\n{name: b, run: 'true'}\n"


def written(text: str) -> str:
    Path("p.yaml").write_text(text)
    return "p.yaml"


def test_each_task_has_its_own_table_and_its_own_places(fake: FakeServer) -> None:
    fake.places.fits = {"ssh/lab": "now", "local": "later"}
    result = invoke("run", "-d", written(SPREAD))
    assert result.exit_code == 0, result.stderr
    assert result.stderr.splitlines()[:7] == [
        "prepare",
        "    PLACE  FITS   PRICE  AHEAD  WHY",
        "->  local  later  -      0      why",
        "",
        "train",
        "    PLACE    FITS   PRICE  AHEAD  WHY",
        "->  ssh/lab  now    -      0      why",
    ]
    asked = bodies(fake, "/placements")
    assert [(body["task"], body["prefer"]) for body in asked] == [
        ("prepare", "cost"),
        ("train", "order"),
    ]
    (submitted,) = bodies(fake, "/jobs")
    options = submitted["options"]
    assert (options["backend"], options["pipeline"]) == ("local", True)
    assert options["placement"] == {
        "prepare": {"places": ["local"], "prefer": "cost"},
        "train": {"places": ["ssh/lab", "local"], "prefer": "order"},
    }
    (other,) = options["candidates"]
    assert (other["backend"], "environ" in other) == ("ssh/lab", False)
    tasks = [item["task"] for obj in other["objects"] for item in obj["spec"]["tasks"]]
    assert tasks[1]["resources"] == {"infra": "ssh/lab"}, "of its candidates the one for the place"
    here = [item["task"] for obj in submitted["objects"] for item in obj["spec"]["tasks"]]
    assert here[1]["resources"]["cpus"] == 1


def test_a_list_of_places_is_for_all_tasks(fake: FakeServer) -> None:
    fake.places.fits = {"local": "now", "ssh/lab": "now"}
    words = ("--on", "ssh/lab,local", "--max-wait", "10m")
    assert invoke("run", "-d", *words, written(PLAIN)).exit_code == 0
    (submitted,) = bodies(fake, "/jobs")
    places = {"places": ["local", "ssh/lab"], "prefer": "order"}
    assert submitted["options"]["placement"] == {"a": places, "b": places}
    assert submitted["options"]["max_wait"] == 600


def test_a_deadline_is_one_of_the_whole_pipeline(fake: FakeServer) -> None:
    fake.places.fits = {"local": "now", "ssh/lab": "now"}
    words = ("--on", "local,ssh/lab", "--deadline", "8h", "--work", "5h")
    assert invoke("run", "-d", *words, written(PLAIN)).exit_code == 0
    (submitted,) = bodies(fake, "/jobs")
    options = submitted["options"]
    assert (options["work"], options["sure"], "deadline" in options) == (18000, "ssh/lab", True)


@pytest.mark.parametrize("words", [(), ("--on", "ssh/lab")])
def test_one_place_for_all_is_not_a_choice(fake: FakeServer, words: tuple[str, ...]) -> None:
    assert invoke("run", "-d", *words, written(PLAIN)).exit_code == 0
    (submitted,) = bodies(fake, "/jobs")
    assert "placement" not in submitted["options"]
    assert not bodies(fake, "/placements")
    assert invoke("run", "-d", "--max-wait", "1m", written(PLAIN)).exit_code == 2


def test_a_task_that_no_place_takes_is_named(fake: FakeServer) -> None:
    fake.places.fits = {"local": "now", "ssh/lab": "never"}
    text = SPREAD.replace(", {infra: local, cpus: 1}", "")
    result = invoke("run", "-d", written(text))
    assert result.exit_code == 1
    assert "train: no place takes the job" in result.stderr
    assert not bodies(fake, "/jobs")


def test_plan_shows_a_table_for_each_task(fake: FakeServer) -> None:
    fake.places.fits = {"local": "now", "ssh/lab": "now"}
    result = invoke("plan", written(PLAIN))
    assert [line.split()[0] for line in result.stdout.splitlines() if line.strip()] == [
        "a", "PLACE", "->", "ssh/lab", "b", "PLACE", "->", "ssh/lab",
    ]  # fmt: skip
    shown = json.loads(invoke("plan", "-o", "json", written(SPREAD)).stdout)
    assert [(task["name"], task["chosen"]) for task in shown["tasks"]] == [
        ("prepare", "local"),
        ("train", "local"),
    ]
    assert not bodies(fake, "/jobs")
    fake.places.fits = {"local": "never"}
    assert invoke("plan", "p.yaml").exit_code == 1


def test_nothing_goes_ahead_of_a_dry_run(fake: FakeServer) -> None:
    fake.places.fits = {"local": "now", "ssh/lab": "now"}
    result = invoke("run", "--dry-run", written(SPREAD))
    assert result.stdout.startswith("apiVersion: trainway.dev/v1alpha1\n")
    assert not [url for _, url, _ in fake.requests if url.endswith(("/jobs", "/missing", "/files"))]
