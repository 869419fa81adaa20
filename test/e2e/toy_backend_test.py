"""A backend is one folder and one row: one of a package outside the tree works like ours."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from environments import REPOSITORY
from installation import Installation, installed

SOURCES = REPOSITORY / "src" / "trainway"
PACKAGE = Path(__file__).with_name("toy_backend")
SECRET = "MY_SECRET_OF_THE_SHELL"  # noqa: S105 - the name of a variable
PROGRAM = """
import trainway
container = {"name": "node", "command": ["echo", "from the SDK"]}
pod = {"spec": {"restartPolicy": "Never", "containers": [container]}}
job = {"completionMode": "Indexed", "completions": 2, "parallelism": 2, "template": pod}
gang = trainway.Client().run(
    {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "gang"},
        "spec": {"replicatedJobs": [{"name": "node", "template": {"spec": job}}]},
    },
    on="toy/shelf",
)
print(gang.wait(), [line.text for line in gang.logs()])
"""


def changes() -> dict[str, int]:
    """When each file of Trainway was last written."""
    return {str(path): path.stat().st_mtime_ns for path in SOURCES.rglob("*.py")}


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """An installation with the package of the toy: its folder, and what pip writes beside it."""
    before = changes()
    site = tmp_path_factory.mktemp("site")
    shutil.copytree(PACKAGE, site / PACKAGE.name)
    info = site / "toy_backend-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-backend\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[trainway.families]\ntoy = toy_backend:FAMILY\n")
    home = tmp_path_factory.mktemp("home")
    with installed(home, {"PYTHONPATH": str(site), SECRET: "hidden"}) as installation:
        yield installation
    assert changes() == before


def test_a_gang_runs_there_from_the_command_line(toy: Installation) -> None:
    printed = toy.run("run", "--on", "toy/shelf", "--nodes", "2", "--", "sh", "-c", "echo at work")
    assert printed.count("at work") == 2
    (job,) = toy.json("jobs", "list", "--all")["items"]
    assert (job["spec"]["backend"], job["status"]["phase"]) == ("toy/shelf", "Succeeded")


def test_a_failure_there_is_the_failure_of_the_job(toy: Installation) -> None:
    toy.run("run", "--on", "toy/shelf", "--", "sh", "-c", "exit 3", code=4)


def test_a_gang_runs_there_from_the_sdk(toy: Installation) -> None:
    words = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(words, env=toy.environ(), capture_output=True, text=True, check=False)
    assert done.stdout == "Succeeded ['from the SDK', 'from the SDK']\n", done.stderr


def test_explain_prints_its_request_with_nothing_of_the_submitter(toy: Installation) -> None:
    printed = toy.run("explain", "--on", "toy/shelf", "--nodes", "2", "-o", "json", "--", "true")
    (request,) = json.loads(printed)["items"]
    assert request["pods"] == {"node-0-0": ["true"], "node-0-1": ["true"]}
    assert request["submitter"]["environ"] == {}
    assert request["submitter"]["workdir"] != str(REPOSITORY)
    assert SECRET not in printed


def test_what_it_does_not_declare_is_refused_in_words(toy: Installation) -> None:
    job = toy.submit("--on", "toy/shelf", "--", "sleep", "600")
    toy.run("jobs", "suspend", job, code=1)
    for verb, *words in (("exec", job, "--", "true"), ("shell", job), ("port-forward", job, "80")):
        said, _ = toy.start("jobs", verb, *words).communicate()
        assert said.splitlines() == [
            f"error: the backend toy/shelf does not support trainway jobs {verb}",
            "hint: trainway jobs logs shows what the job writes",
        ]
    toy.run("jobs", "cancel", job)


def test_a_cluster_can_be_held_there(toy: Installation) -> None:
    printed = toy.run("launch", "-y", "-c", "row", "--infra", "toy/shelf", "--", "echo", "held")
    assert "held" in printed
    (cluster,) = toy.json("status")["items"]
    assert (cluster["spec"]["infra"], cluster["status"]["phase"]) == ("toy/shelf", "UP")
    assert [node["host"] for node in cluster["status"]["nodes"]] == ["shelf-1"]
    toy.run("down", "-y", "row")


def test_doctor_lists_it(toy: Installation) -> None:
    assert "toy" in toy.run("doctor", "--any")


def test_nothing_of_trainway_knows_it() -> None:
    assert not [path for path in changes() if '"toy' in Path(path).read_text()]
