"""`trainway finetune` as a user has it: a tiny model on two nodes, killed, resumed, exported.

What was exported comes back from S3 before it is loaded, so what a user would have on another
machine is what is judged.
"""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from environments import REPOSITORY, TORCH, TRL, environment
from installation import TIMEOUT_S, Installation, installed
from s3_server import S3Server
from small_disk import filled, small_disk

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("s3")]

STEPS = 30
SETTINGS = ("max_length=64", f"max_steps={STEPS}", "save_steps=10", "batch_size=2", "packing=false")


@pytest.fixture(scope="module")
def trl(tmp_path_factory: pytest.TempPathFactory, s3_server: S3Server) -> Iterator[Installation]:
    variables = environment(*TORCH).variables() | s3_server.variables()
    variables |= {"PYTHONPATH": str(environment(*TRL).packages), "OMP_NUM_THREADS": "1"}
    with installed(tmp_path_factory.mktemp("trl"), variables) as installation:
        yield installation


@pytest.fixture(scope="module")
def tiny(trl: Installation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    _python(trl, str(REPOSITORY / "examples" / "tiny_llm.py"), str(folder))
    return folder


def test_a_killed_fine_tune_goes_on_exactly_and_is_exported(
    trl: Installation, tiny: Path, s3_server: S3Server, tmp_path: Path
) -> None:
    s3_server.bucket("tuned")
    words = (str(tiny / "model"), str(tiny / "data"), "--nodes", "2", *SETTINGS)
    trl.run("finetune", *words, "--name", "whole")
    killed = ("--name", "killed", "--restarts", "1", "--output", "s3://tuned/killed")
    id_ = trl.run("finetune", *words, *killed, "--detach").split()[-1]
    output = trl.home / "jobs" / id_ / "output"
    mark = output / "checkpoints" / "checkpoint-10" / "trainway-complete.json"
    _wait_for(mark)
    _kill_a_rank(output)
    trl.run("jobs", "wait", id_)

    log = trl.run("jobs", "logs", id_)
    assert "goes on from step 10" in log or "goes on from step 20" in log
    assert _losses(trl, "killed") == pytest.approx(_losses(trl, "whole"), abs=1e-4)
    status = trl.job("killed")["status"]
    assert status["progress"]["progressPercentage"] == 100
    assert (status["export"]["state"], status["export"]["uri"]) == ("Done", "s3://tuned/killed")

    fetched = tmp_path / "fetched"
    trl.run("data", "copy", "s3://tuned/killed", str(fetched))
    result = json.loads((fetched / "finetune.json").read_text())
    assert result["steps"] == STEPS
    assert not (output / "checkpoints").exists()
    assert not (fetched / "checkpoints").exists()
    assert "library_name" in (fetched / "adapter" / "README.md").read_text()
    other = trl.home / "jobs" / trl.job("whole")["metadata"]["id"] / "output"
    said = _python(trl, "-c", LOADING, str(fetched), str(other), str(tiny / "model"))
    assert said.split() == ["same", "tuned", "adapted"]


LOADING = """
import sys, torch
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer
ours, other, base = sys.argv[1:]
load = lambda place: AutoModelForCausalLM.from_pretrained(place, dtype=torch.float32)
tokens = AutoTokenizer.from_pretrained(ours + "/model")("3 times 4 is ", return_tensors="pt")
answer = lambda model: model(**tokens).logits
with torch.no_grad():
    mine = answer(load(ours + "/model"))
    print("same" if torch.allclose(mine, answer(load(other + "/model")), atol=1e-4) else "other")
    print("base" if torch.allclose(mine, answer(load(base))) else "tuned")
    adapted = answer(PeftModel.from_pretrained(load(base), ours + "/adapter"))
    print("adapted" if torch.allclose(mine, adapted, atol=1e-4) else "unlike")
"""


def test_a_full_disk_loses_no_checkpoint(trl: Installation, tiny: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    output = disk / "out"
    steps = ("max_length=64", "max_steps=60", "save_steps=5", "batch_size=2", "packing=false")
    words = (str(tiny / "model"), str(tiny / "data"), "--output", str(output), *steps)
    with small_disk(disk):
        job = trl.run("finetune", *words, "--detach").split()[-1]
        _wait_for(output / "checkpoints" / "checkpoint-5" / "trainway-complete.json")
        with filled(disk):
            trl.run("jobs", "wait", job, code=4)
            log = trl.run("jobs", "logs", job)
            assert f"error: the disk of {output} is full" in log
            assert "Traceback" not in log
        assert list(output.glob("checkpoints/*/trainway-complete.json"))
        assert "goes on from step" in trl.run("finetune", *words)
        assert json.loads((output / "finetune.json").read_text())["steps"] == 60


def test_packed_examples_do_not_see_each_other(trl: Installation) -> None:
    said = _python(trl, str(REPOSITORY / "test" / "e2e" / "packed_loss.py"))
    assert {line.split()[-1] for line in said.splitlines()} == {"same"}


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("dpo", ("data-pairs", "method=full")),
        pytest.param("sft", ("data", "method=full", "packing=true"), marks=pytest.mark.stress),
    ],
    ids=["pairs", "all weights, packed"],
)
def test_other_ways_to_tune(
    trl: Installation, tiny: Path, task: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    data, *others = words
    few = ("max_length=64", "max_steps=2", "batch_size=2")
    trl.run("finetune", str(tiny / "model"), str(tiny / data), "--task", task,
            "--output", str(tmp_path), *others, *few)  # fmt: skip
    result = json.loads((tmp_path / "finetune.json").read_text())
    assert result["saved"]["model"] == str(tmp_path / "model")
    assert (tmp_path / "model" / "model.safetensors").exists()


READING = """
import sys
from trainway.llm import dataset
from trainway.llm.configuration import Task, configured
file = sys.argv[1]
rows = dataset.loaded(configured({}, ["model=/m", "dataset=" + file], ""), Task.SFT, None)
print(list(rows))
"""


def test_numbers_are_text_and_rows_with_empty_cells_are_left_out(
    trl: Installation, tmp_path: Path
) -> None:
    file = tmp_path / "sums.csv"
    file.write_text("prompt,completion\n2+2,4\n,5\n3+3,6\n")
    assert _python(trl, "-c", READING, str(file)).splitlines() == [
        "1 of 3 rows are left out: they do not have prompt and completion",
        "[{'prompt': '2+2', 'completion': '4'}, {'prompt': '3+3', 'completion': '6'}]",
    ]


def test_rows_with_and_without_tools_are_read(trl: Installation, tmp_path: Path) -> None:
    said = [{"role": "user", "content": "q"}]
    rows = [{"messages": said, "tools": tools} for tools in ("[]", None, "[1]")]
    file = tmp_path / "calls.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    program = READING.replace("None", 'type("Tokenizer", (), {"chat_template": "jinja"})')
    assert _python(trl, "-c", program, str(file)).splitlines() == [str(rows)]


def test_what_is_wrong_with_data_or_method_is_said_in_one_line(
    trl: Installation, tiny: Path, tmp_path: Path
) -> None:
    (tmp_path / "train.jsonl").write_text('{"question": "a", "reply": "b"}\n')
    trl.run("finetune", str(tiny / "model"), str(tmp_path), "--name", "columns", code=4)
    log = trl.run("jobs", "logs", "columns")
    assert "error: dataset: its columns are question, reply; sft needs" in log
    assert "Traceback" not in log
    (tmp_path / "train.jsonl").write_text('{"prompt": "a", "completion": null}\n')
    trl.run("finetune", str(tiny / "model"), str(tmp_path), "--name", "nothing", code=4)
    assert "error: dataset: no row has prompt and completion" in trl.run("jobs", "logs", "nothing")
    words = (str(tiny / "model"), str(tiny / "data"), "--method", "qlora", "--name", "bits")
    trl.run("finetune", *words, code=4)
    log = trl.run("jobs", "logs", "bits")
    assert "error: method: qlora needs the library bitsandbytes" in log
    assert "Traceback" not in log


def _losses(trl: Installation, name: str) -> list[float]:
    """The loss of each step; of those that were done twice the last."""
    points = trl.json("jobs", "metrics", name)["series"]["loss"]
    return [value for _, value in sorted({each["step"]: each["value"] for each in points}.items())]


def _wait_for(file: Path) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not file.exists():
        assert time.monotonic() < deadline, f"there is no {file}"
        time.sleep(0.005)


def _kill_a_rank(output: Path) -> None:
    """Kill one process of the job as a machine without memory would."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and _is_rank(entry, str(output)):
            os.kill(int(entry.name), signal.SIGKILL)
            return
    raise AssertionError("no process of the job was found")


def _is_rank(process: Path, output: str) -> bool:
    try:
        variables = (process / "environ").read_bytes().split(b"\0")
    except OSError:
        return False
    return f"TRAINWAY_OUTPUT_DIR={output}".encode() in variables and b"RANK=1" in variables


def _python(trl: Installation, *words: str) -> str:
    variables: dict[str, Any] = {**trl.environ()}
    variables["PYTHONPATH"] += f"{os.pathsep}{REPOSITORY / 'src'}"
    found = Path(variables["VIRTUAL_ENV"], "bin", "python")
    done = subprocess.run(
        [str(found), *words], env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
