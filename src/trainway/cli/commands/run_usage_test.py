"""Words that `trainway run` does not take: it ends with 2 and says what it takes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from trainway.cli.app import app
from trainway.sdk.testing import FakeServer


@pytest.fixture
def fake(training_folder: Path) -> Iterator[FakeServer]:
    with FakeServer(training_folder / "home") as server:
        yield server


@pytest.mark.parametrize(
    ("args", "stderr"),
    [
        ([], "error: there is nothing to run\nhint: see trainway run --help"),
        (["--"], "error: there is nothing to run\nhint: see trainway run --help"),
        (
            ["--lr", "0.1", "train.py"],
            (
                "error: trainway run has no option --lr\n"
                "hint: see trainway run --help. Options of your program come after its name"
            ),
        ),
        (
            ["--nmae", "x", "train.py"],
            (
                "error: trainway run has no option --nmae\n"
                "hint: did you mean --name? Options of your program come after its name"
            ),
        ),
        (
            ["train.py", "-debug"],
            (
                "error: -debug could be an option of trainway or of your program; put -- before "
                "the arguments of your program\nhint: see trainway run --help"
            ),
        ),
        (
            ["a.yaml", "--lr=1"],
            (
                "error: trainway run has no option --lr\n"
                "hint: see trainway run --help. Options of your program come after its name"
            ),
        ),
        (["a.yaml", "x"], "error: a.yaml does not take arguments\nhint: pass variables with --env"),
        (
            ["a.yaml", "--", "x"],
            "error: a.yaml does not take arguments\nhint: pass variables with --env",
        ),
        (
            ["--on", "a,b", "--max-wait", "-5m", "true"],
            (
                "error: --max-wait: not a duration: '-5m'; write 90, 30s, 5m, 1h30m or 2d\n"
                "hint: see trainway run --help"
            ),
        ),
        (
            ["--hang-timeout", "soon", "true"],
            (
                "error: --hang-timeout: not a duration: 'soon'; write 90, 30s, 5m, 1h30m or 2d\n"
                "hint: see trainway run --help"
            ),
        ),
        (
            ["--on", "a,b", "--deadline", "8h", "--work", "long", "true"],
            (
                "error: --work: not a duration: 'long'; write 90, 30s, 5m, 1h30m or 2d\n"
                "hint: see trainway run --help"
            ),
        ),
        (["no.yaml"], "error: no.yaml: No such file or directory"),
        (["no.py"], "error: no.py: No such file or directory"),
        (
            ["no-such-program"],
            (
                "error: there is neither a file nor a program called 'no-such-program'\n"
                "hint: trainway runs manifests (.yaml, .yml, .json), scripts and commands"
            ),
        ),
        (
            ["/"],
            (
                "error: / is a folder, and Trainway runs one file at a time\n"
                "hint: name a file in it, or check all of them: trainway validate -f /"
            ),
        ),
        (
            ["train.txt"],
            (
                "error: train.txt is neither a manifest nor a script, and it is not executable\n"
                "hint: trainway runs manifests (.yaml, .yml, .json), scripts and commands; make a "
                "program of your own executable with chmod +x train.txt"
            ),
        ),
        (
            ["--on", "ssh/lab", "./train.txt"],
            (
                "error: ./train.txt is a file on this machine and is not sent along with "
                "a command\n"
                "hint: write a task file with this command as its `run` and a `workdir`"
            ),
        ),
        (
            ["--memory", "4", "a.yaml"],
            (
                "error: 4 of memory would be 4 bytes\n"
                "hint: write 4Gi for gibibytes, or 4Mi for mebibytes"
            ),
        ),
        (
            ["--gpus", "A100:8", "a.yaml"],
            (
                "error: --gpus: 'A100:8' names a type of GPU, and this "
                "command takes only a number: --gpus 8. Rented machines, tasks and clusters "
                "accept types: --on cloud --gpus A100:8, or trainway launch --gpus A100:8\n"
                "hint: see trainway run --help"
            ),
        ),
        (["--env", "=1", "a.yaml"], "error: --env =1: the name is missing"),
        (
            ["--env", "NO_SUCH", "a.yaml"],
            "error: --env NO_SUCH: this variable is not set here\nhint: write NO_SUCH=VALUE",
        ),
        (
            ["--procs-per-node", "2", "--", "echo"],
            (
                "error: --procs-per-node has no effect on a command\n"
                "hint: use a runtime that starts several processes: --runtime torch-distributed"
            ),
        ),
        (
            ["--cpus", "two", "a.yaml"],
            (
                "error: --cpus: 'two' is not an amount; write 2, 0.5 or 500m\n"
                "hint: see trainway run --help"
            ),
        ),
        (
            ["--memory", "4GB", "a.yaml"],
            ("error: --memory: '4GB' is not an amount; write 4Gi\nhint: see trainway run --help"),
        ),
        (
            ["--memory", "-1", "a.yaml"],
            ("error: --memory: '-1' is negative\nhint: see trainway run --help"),
        ),
        (
            ["--restarts", "1", "a.yaml"],
            "error: restarts cannot be set for a TrainJob\nhint: set it in the file",
        ),
    ],
)
def test_wrong_usage_ends_with_2(fake: FakeServer, args: list[str], stderr: str) -> None:
    result = CliRunner().invoke(app, ["run", *args], prog_name="trainway")
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", stderr + "\n")
