"""Every example, run for real on the local backend and judged by what it trained."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from environments import (
    ARRAYS,
    DEEPSPEED,
    MLX,
    REPOSITORY,
    TENSORBOARD,
    TORCH,
    environment,
    require_mpirun,
)
from installation import TIMEOUT_S, Installation, installed, processes_of

pytestmark = pytest.mark.engine  # torch
EXAMPLES = REPOSITORY / "examples"
EVERY_WAY = "test/e2e/every_way.py"
PRINTED = r"(?:step|round)\s(?P<step>\d+)/\d+\sloss\s(?P<printed>[0-9.]+)"
NOTEBOOK_CELLS = Path(__file__).with_name("notebook_cells.py")
LOSS = re.compile(r"(?:epoch|step|round) (\d+)/\d+ loss ([0-9.]+)")


@pytest.fixture(scope="module")
def torch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """For all examples with torch: jobs do not disturb each other, so a home can be shared."""
    variables = environment(*TORCH).variables()
    with installed(tmp_path_factory.mktemp("torch"), variables) as installation:
        yield installation


@pytest.fixture(scope="module")
def arrays(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    variables = environment(*ARRAYS).variables()
    with installed(tmp_path_factory.mktemp("arrays"), variables) as installation:
        yield installation


@dataclass(frozen=True)
class Case:
    """An example that trains: how it is run and what it must leave behind."""

    name: str
    command: str
    home: str
    said: str
    leaves: str
    mpi: bool = False
    written: str = ""
    """The series of its TensorBoard file, if it reports in every way."""
    posted: str = "posted"
    """A series that only the endpoint knows."""

    def __str__(self) -> str:
        return self.name

    def words(self) -> list[str]:
        if not self.written:
            return self.command.split()
        found = [str(REPOSITORY / "src"), str(environment(*TENSORBOARD).packages)]
        options = ["--name", self.name, "--env", f"PYTHONPATH={':'.join(found)}"]
        return [*options, "--metrics-from-logs", PRINTED, *self.command.split()]


CASES = [
    Case(
        "torch-ddp",
        "examples/torch-ddp.yaml",
        home="torch",
        said="loss .* processes 4",
        leaves="checkpoint.pt",
    ),
    Case(
        "torch-fsdp",
        f"--nodes 2 --procs-per-node 2 {EVERY_WAY} -- examples/torch_fsdp.py",
        home="torch",
        said="rank 3 of 4 holds 25% of the model",
        leaves="checkpoints/40/.metadata",
        written="written",
    ),
    Case(
        "lora-finetune",
        f"--procs-per-node 2 {EVERY_WAY} -- examples/lora_finetune.py --report-to tensorboard",
        home="torch",
        said="training 46080 of 152896 parameters, processes 2",
        leaves="adapter_model.safetensors",
        written="train/loss",
        posted="train_loss",
    ),
    Case(
        "mpi-train",
        "examples/mpi-trainjob.yaml",
        home="torch",
        said="loss .* ranks 2",
        leaves="model.pt",
        mpi=True,
    ),
    Case(
        "jax-train",
        "--runtime jax-distributed --nodes 2 examples/jax_train.py",
        home="arrays",
        said="loss .* processes 2",
        leaves="weights.npy",
    ),
    Case(
        "xgboost-train",
        f"--runtime xgboost-distributed --nodes 2 {EVERY_WAY} -- examples/xgboost_train.py",
        home="arrays",
        said="checkpoint .* of 2 workers",
        leaves="model.ubj",
        written="written",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_example_learns_and_reports(case: Case, request: pytest.FixtureRequest) -> None:
    if case.mpi:
        require_mpirun()
    home: Installation = request.getfixturevalue(case.home)

    printed = home.run("run", *case.words())

    losses = losses_of(printed)
    assert losses[-1] < losses[0] / 2, printed
    assert re.search(case.said, printed), printed
    job = home.job(case.name)
    assert job["status"]["phase"] == "Succeeded"
    assert (Path(job["status"]["outputDir"]) / case.leaves).is_file()
    progress = job["status"]["progress"]
    assert progress["progressPercentage"] > 0
    assert "loss" in {metric["name"] for metric in progress["metrics"]}
    assert processes_of(job["metadata"]["id"]) == []
    if case.written:
        assert_it_reported_in_every_way(home, case, losses)


def assert_it_reported_in_every_way(home: Installation, case: Case, losses: list[float]) -> None:
    """What is read is complete; of what is sent, the last report always counts."""
    series = home.json("jobs", "metrics", case.name)["series"]
    values = {name: [point["value"] for point in points] for name, points in series.items()}
    assert values["printed"] == losses
    assert values[case.written] == pytest.approx(losses, abs=1e-4)
    assert values["reported"][-1] == pytest.approx(losses[-1], abs=1e-4)
    assert values[case.posted]
    steps = [[point["step"] for point in series[name]] for name in ("printed", case.written)]
    assert series["reported"][-1]["step"] == steps[1][-1]
    assert len(steps[0]) == len(steps[1]) == len(losses)


def test_mpirun_sums_over_all_slots_of_an_mpijob(arrays: Installation) -> None:
    require_mpirun()

    printed = arrays.run("run", "examples/mpi.yaml")

    assert "sum 10: 8 MB" in printed
    assert [f"rank {rank} of 4" in printed for rank in range(4)] == [True] * 4
    job = arrays.job("allreduce")
    assert job["status"]["phase"] == "Succeeded"
    assert processes_of(job["metadata"]["id"]) == []


@dataclass(frozen=True)
class Inline:
    """A manifest that carries its program."""

    file: str
    said: str


@pytest.mark.parametrize(
    "case",
    [
        Inline("jax.yaml", "process 1 of 2 has 3.0"),
        Inline("xgboost.yaml", r"\[9\]\s+train-rmse:0\.\d+"),
        Inline("jobset.yaml", r"client-2 \| 200"),
    ],
    ids=lambda case: case.file,
)
def test_a_manifest_with_its_program_inside_runs_as_it_is(
    case: Inline, arrays: Installation
) -> None:
    printed = arrays.run("run", f"examples/{case.file}")

    assert re.search(case.said, printed), printed


def test_mlx_over_mpi_on_processors(tmp_path: Path) -> None:
    require_mpirun()
    with installed(tmp_path, environment(*MLX).variables()) as home:
        printed = home.run("run", "examples/mlx.yaml")

    assert "step 19 loss 0.0000, processes 2" in printed


@pytest.mark.stress  # it compiles kernels for some minutes
def test_deepspeed_over_mpi_on_processors(tmp_path: Path) -> None:
    require_mpirun()
    added = {
        "PYTHONPATH": str(environment(*DEEPSPEED).packages),
        "DS_ACCELERATOR": "cpu",
        "TORCH_EXTENSIONS_DIR": str(tmp_path / "kernels"),  # a lock of who was killed would stay
        "OMP_NUM_THREADS": "1",
    }
    words = ("run", "examples/deepspeed.yaml", "--gpus", "0", "--nodes", "2")
    with installed(tmp_path / "home", environment(*TORCH).variables() | added) as home:
        printed = home.run(*words, timeout_s=3 * TIMEOUT_S)

    assert "step 19 loss " in printed


def test_a_job_that_crashes_goes_on_from_its_checkpoint(torch: Installation) -> None:
    script = ["examples/torch_ddp.py", "--", "--epochs", "4", "--crash-at-epoch", "2"]
    gang = ["--nodes", "2", "--procs-per-node", "1", "--restarts", "1", "--name", "crash"]

    torch.run("run", *gang, *script)

    logs = torch.run("jobs", "logs", "crash", "--all-attempts")
    assert "crashing after epoch 2" in logs
    assert "resuming after epoch 2" in logs
    assert [int(epoch) for epoch, _ in LOSS.findall(logs)] == [1, 2, 3, 4]
    status = torch.job("crash")["status"]
    assert (status["phase"], status["restarts"]) == ("Succeeded", 1)


def test_the_same_file_twice_at_the_same_time(torch: Installation) -> None:
    both = [
        torch.start("run", "examples/torch-ddp.yaml", "--name", f"twin-{number}")
        for number in range(2)
    ]

    printed = [process.communicate()[0] for process in both]

    assert [process.returncode for process in both] == [0, 0], printed
    outputs = [losses_of(text) for text in printed]
    assert outputs[0] == outputs[1]
    assert len(outputs[0]) == 5


def test_the_cells_of_the_notebook_run_in_order(tmp_path: Path) -> None:
    notebook = json.loads((EXAMPLES / "notebook.ipynb").read_text())
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert all(cell["outputs"] == [] for cell in code_cells(notebook))

    with installed(tmp_path / "home") as home:
        done = subprocess.run(
            [sys.executable, str(NOTEBOOK_CELLS), str(EXAMPLES / "notebook.ipynb")],
            cwd=REPOSITORY,
            env=home.environ(),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

        assert done.returncode == 0, done.stderr
        assert "epoch 20/20 loss" in done.stdout
        assert "the best rate is 0.5" in done.stdout
        assert "node 0 of two-nodes" in done.stdout
        assert f"Succeeded {home.home}" in done.stdout


def losses_of(text: str) -> list[float]:
    losses = [float(loss) for _, loss in LOSS.findall(text)]
    assert len(losses) > 1, text
    return losses


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
