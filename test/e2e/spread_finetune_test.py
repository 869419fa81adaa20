"""FSDP2 over two processes: trained, killed, resumed and saved; `spread_training.py` says how."""

import json
import re
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from environments import REPOSITORY, TORCH, TRL, environment

pytestmark = pytest.mark.engine

STEPS = 6
READ = re.compile(r"process (\d) reads the weights")
SETTINGS = (
    "max_length=64", f"max_steps={STEPS}", "save_steps=2", "batch_size=2", "packing=false",
    "keep_checkpoints=5",
)  # fmt: skip


@pytest.fixture(scope="module")
def variables() -> dict[str, str]:
    path = f"{environment(*TRL).packages}:{REPOSITORY / 'src'}"
    return {**environment(*TORCH).variables(), "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def tiny(variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    done = python(variables, str(REPOSITORY / "examples" / "tiny_llm.py"), str(folder))
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize(
    ("method", "kinds"),
    [
        ("lora", ("adapter", "model")),
        pytest.param("full", ("model",), marks=pytest.mark.stress),
    ],
)
def test_a_killed_training_goes_on_exactly_and_is_saved_whole(
    variables: dict[str, str], tiny: Path, tmp_path: Path, method: str, kinds: tuple[str, ...]
) -> None:
    """The second time its two nodes share no disk, as those of a pool of hosts."""
    whole, killed = tmp_path / "whole", tmp_path / "first"
    nodes = (killed, tmp_path / "second")
    words = (f"model={tiny / 'model'}", f"dataset={tiny / 'data'}", f"method={method}", *SETTINGS)
    said = trained(variables, *words, outputs=(whole,))
    assert READ.findall(said) == ["0"]
    stopped, _ = spread(variables | {"STOP_AFTER": "5"}, *words, outputs=nodes)
    assert stopped != 0
    assert "goes on from step 4" in trained(variables, *words, outputs=nodes)

    checkpoint = Path("checkpoints", "checkpoint-4", "pytorch_model_fsdp.bin")
    assert [(node / checkpoint).stat().st_size > 0 for node in nodes] == [True, False]
    assert losses(killed) == pytest.approx(losses(whole), abs=1e-4)
    assert [each.name for each in nodes[1].iterdir()] == ["checkpoints"]
    saved = json.loads((killed / "finetune.json").read_text())["saved"]
    assert saved == {kind: str(killed / kind) for kind in kinds}
    answers = python(variables, "-c", LOADING, str(killed), str(whole), str(tiny / "model"))
    assert answers.stdout.split() == ["torch.float32", "same", "tuned"], answers.stderr


LOADING = """
import sys, torch
from transformers import AutoModelForCausalLM, AutoTokenizer
ours, other, base = sys.argv[1:]
load = lambda place: AutoModelForCausalLM.from_pretrained(place)
tokens = AutoTokenizer.from_pretrained(ours + "/model")("3 times 4 is ", return_tensors="pt")
answer = lambda model: model(**tokens).logits
with torch.no_grad():
    print(load(ours + "/model").dtype)
    mine = answer(load(ours + "/model"))
    print("same" if torch.allclose(mine, answer(load(other + "/model")), atol=1e-4) else "other")
    print("base" if torch.allclose(mine, answer(load(base)), atol=1e-6) else "tuned")
"""


def losses(output: Path) -> list[float]:
    state = output / "checkpoints" / f"checkpoint-{STEPS}" / "trainer_state.json"
    history = json.loads(state.read_text())["log_history"]
    found = {entry["step"]: entry["loss"] for entry in history if "loss" in entry}
    assert list(found) == list(range(1, STEPS + 1))
    return list(found.values())


def trained(variables: dict[str, str], *words: str, outputs: tuple[Path, ...]) -> str:
    code, said = spread(variables, *words, outputs=outputs)
    assert code == 0, said
    assert "spread over all (FSDP2)" in said
    return said


def spread(variables: dict[str, str], *words: str, outputs: tuple[Path, ...]) -> tuple[int, str]:
    """Train with two processes; each has a node of its own if there are two outputs.

    The exit status of the first node, and what all have said.
    """
    program = str(REPOSITORY / "test" / "e2e" / "spread_training.py")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    started = []
    for rank, output in enumerate(outputs):
        place = (f"--nnodes={len(outputs)}", f"--node-rank={rank}", f"--master-port={port}")
        launcher = ("-m", "torch.distributed.run", f"--nproc-per-node={2 // len(outputs)}", *place)
        argv = [interpreter(variables), *launcher, program, "sft", *words, f"output={output}"]
        started.append(
            subprocess.Popen(
                argv, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
        )
    with ThreadPoolExecutor(len(started)) as threads:
        said = list(threads.map(lambda each: each.communicate()[0], started))
    return started[0].returncode, "".join(said)


def interpreter(variables: dict[str, str]) -> str:
    return str(Path(variables["VIRTUAL_ENV"], "bin", "python"))


def python(variables: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [interpreter(variables), *words], env=variables, capture_output=True, text=True, check=False
    )
