"""Runs as people use them: several jobs of one command, their limit, and what failed again."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from installation import TIMEOUT_S, Installation, installed, kill


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with installed(tmp_path_factory.mktemp("home")) as installation:
        yield installation


def test_several_jobs_of_one_command(home: Installation) -> None:
    script = "echo rank $TRAINWAY_JOB_RANK of $SKYPILOT_NUM_JOBS; test $SKYPILOT_JOB_RANK = 0"
    words = ("--num-jobs", "2", "--name", "several", "--", "sh", "-c", script)
    assert home.run("run", *words, code=4) == ""
    for rank, phase in enumerate(("Succeeded", "Failed")):
        assert home.phase(f"several-{rank}") == phase
        assert home.run("jobs", "logs", "--raw", f"several-{rank}") == f"rank {rank} of 2\n"
    labels = home.job("several-1")["metadata"]["labels"]
    assert labels["trainway.dev/array"] == home.job("several-0")["metadata"]["id"]


def test_a_sweep_runs_at_most_so_many_at_a_time_and_what_failed_again(
    home: Installation, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(
        "import os, sys, time\n"
        "from pathlib import Path\n"
        "folder, lr = Path(sys.argv[1]), sys.argv[sys.argv.index('--lr') + 1]\n"
        "assert lr == os.environ['TRAINWAY_PARAM_LR']\n"
        "own = folder / f'run-{lr}'\n"
        "own.touch()\n"
        "time.sleep(0.2)\n"
        "most = len(list(folder.glob('run-*')))\n"
        "(folder / f'most-{lr}').write_text(str(most))\n"
        "own.unlink()\n"
        "sys.exit(lr == '1e-3' and not (folder / 'mended').exists())\n"
    )
    folder = tmp_path / "seen"
    folder.mkdir()
    words = (str(tmp_path / "train.py"), str(folder), "--name", "sweep")
    asked = home.start("run", *words, "--grid", "lr=0.10,1e-3,1,2", "--parallel", "2")
    said, _ = asked.communicate(timeout=TIMEOUT_S)
    assert asked.returncode == 4
    assert said.count(": Succeeded after") == 3
    assert {path.read_text() for path in folder.glob("most-*")} <= {"1", "2"}
    assert len(list(folder.glob("most-*"))) == 4
    shown = json.loads(home.run("runs", "show", "sweep", "-o", "json"))
    assert shown["status"] == {"phase": "Failed", "phases": {"Succeeded": 3, "Failed": 1}}
    assert shown["jobs"][1]["spec"]["parameters"] == {"lr": "1e-3"}
    (folder / "mended").touch()
    name, id_ = home.run("runs", "rerun", "--failed", "sweep").split()
    assert name == "sweep-1"
    home.run("jobs", "wait", id_)
    again = json.loads(home.run("runs", "show", "sweep", "-o", "json"))
    assert again["metadata"] == shown["metadata"]
    assert again["status"] == {"phase": "Succeeded", "phases": {"Succeeded": 4}}
    assert [job["metadata"]["id"] == id_ for job in again["jobs"]] == [False, True, False, False]
    old = home.job(shown["jobs"][1]["metadata"]["id"])
    assert (old["status"]["phase"], old["spec"]["replacedBy"]) == ("Failed", id_)
    assert home.run("runs", "delete", "sweep").count("sweep-1 deleted") == 2
    assert home.run("runs", "list", "--name", "sweep", "-o", "name") == ""


def test_a_killed_server_neither_loses_nor_doubles_what_is_submitted_again(
    home: Installation, tmp_path: Path
) -> None:
    script = "echo $TRAINWAY_JOB_ID >> $0/$TRAINWAY_JOB_RANK; test -e $0/mended"
    words = ("--name", "twice", "--num-jobs", "3", "--", "sh", "-c", script, str(tmp_path))
    home.run("run", *words, code=4)
    asking = home.start("runs", "rerun", "--failed", "twice")
    time.sleep(0.15)  # before, while or after the server hears of it: all must come out right
    kill(home.server_pid())
    asking.communicate(timeout=TIMEOUT_S)
    home.run("runs", "logs", "-f", "twice")
    (tmp_path / "mended").touch()
    home.run("runs", "rerun", "--failed", "twice")
    home.run("runs", "logs", "-f", "twice")
    run = json.loads(home.run("runs", "show", "twice", "-o", "json"))
    assert run["status"]["phases"] == {"Succeeded": 3}
    jobs = json.loads(home.run("jobs", "list", "-o", "json"))["items"]
    for rank, job in enumerate(run["jobs"]):
        name = job["metadata"]["name"]
        assert name == f"twice-{rank}"
        ids = sorted(item["metadata"]["id"] for item in jobs if item["metadata"]["name"] == name)
        assert ids[-1] == job["metadata"]["id"]
        assert sorted((tmp_path / str(rank)).read_text().split()) == ids
