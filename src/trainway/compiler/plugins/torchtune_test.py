from dataclasses import dataclass

import pytest

from trainway.compiler.plugins.torchtune import Devices, Recipe, model_of, recipe_of
from trainway.compiler.testing import compiled, env, messages, node, role, runtime, trainjob
from trainway.json_types import Json

LORA = ["model.lora_attn_modules=[q_proj]"]
QLORA = [*LORA, "model.quantize_base=True"]
DORA = [*QLORA, "model.use_dora=True"]
LLAMA, QWEN, BIG = "torchtune-llama3.2-1b", "torchtune-qwen2.5-1.5b", "torchtune-llama3.3-70b"
ONE, TWO, FREE = Devices(1, 1, 0), Devices(1, 2, 0), Devices(1, None, 4)


@pytest.mark.parametrize(
    ("devices", "args", "recipe"),
    [
        (ONE, QLORA, Recipe("lora_finetune_single_device", "_qlora_single_device")),
        (ONE, LORA, Recipe("lora_finetune_single_device", "_lora_single_device")),
        (ONE, [], Recipe("full_finetune_single_device", "_full_single_device")),
        (Devices(1, None, 1), [], Recipe("full_finetune_single_device", "_full_single_device")),
        (TWO, QLORA, Recipe("lora_finetune_distributed", "_qlora")),
        (TWO, DORA, Recipe("lora_finetune_distributed", "_lora")),
        (FREE, LORA, Recipe("lora_finetune_distributed", "_lora")),
        (FREE, [], Recipe("full_finetune_distributed", "_full")),
        (Devices(2, 1, 0), [], Recipe("full_finetune_distributed", "_full_multinode")),
    ],
)
def test_recipe(devices: Devices, args: list[str], recipe: Recipe) -> None:
    assert recipe_of(devices, args) == recipe


@pytest.mark.parametrize(
    ("runtime_name", "model"),
    [(LLAMA, "llama3_2/1B"), (QWEN, "qwen2_5/1.5B"), ("torch-distributed", ""), ("a-b-c-d", "")],
)
def test_model(runtime_name: str, model: str) -> None:
    assert model_of(runtime_name) == model


def tune_runtime(name: str) -> Json:
    command = ["tune", "run", "dataset=alpaca", "output_dir=/out", "tokenizer.path=/tok"]
    return runtime({"torch": {}}, role(command=command), name=name)


def tune(trainer: Json, name: str = LLAMA) -> Json:
    return trainjob({"command": ["tune", "run"], **trainer}, runtime_name=name)


def test_command_of_the_worked_example() -> None:
    gpus = {"resourcesPerNode": {"limits": {"nvidia.com/gpu": 2}}}
    container = node(compiled(tune_runtime(LLAMA), tune({"args": LORA, **gpus})))
    assert container.command == [
        "tune",
        "run",
        "--rdzv_endpoint=t-node-0-0.t:29500",
        "lora_finetune_distributed",
        "--config",
        "llama3_2/1B_lora",
        "output_dir=/out",
        "tokenizer.path=/tok",
    ]
    assert container.data["args"] == LORA
    assert set(env(container)) == {"PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK"}


def test_a_single_process_meets_nobody() -> None:
    container = node(compiled(tune_runtime(LLAMA), tune({"numProcPerNode": 1})))
    assert container.command[2:5] == [
        "full_finetune_single_device",
        "--config",
        "llama3_2/1B_full_single_device",
    ]


@dataclass(frozen=True)
class Refused:
    field: str
    text: str
    trainer: Json
    name: str = LLAMA
    others: tuple[str, ...] = ()


REFUSALS = [
    Refused(
        "runtimeRef.name", "invalid model configured: llama3_2/8B", {}, "torchtune-llama3.2-8b"
    ),
    Refused("trainer.numNodes", "must be 1 for llama3_2/1B model", {"numNodes": 2}),
    Refused(
        "trainer.numNodes",
        "LoRA fine-tuning is not supported for multi-node",
        {"numNodes": 2, "args": LORA},
        BIG,
    ),
    Refused("runtimeRef.name", "QLoRA is not supported for qwen2_5", {"args": QLORA}, QWEN),
    Refused(
        "trainer.numProcPerNode",
        "must be auto or 1 for llama3_2/1B model when using QLoRA",
        {"args": QLORA, "numProcPerNode": 2},
        others=("spec.trainer.resourcesPerNode",),
    ),
    Refused("trainer.args[1]", '"output_dir"', {"args": ["epochs=1", "output_dir=/mine"]}),
]


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case.text)
def test_refusals(case: Refused) -> None:
    found = messages(tune_runtime(case.name), tune(case.trainer, case.name))
    (message,) = [m for m in found if m.startswith(f"spec.{case.field}: ")]
    assert case.text in message
    for path in case.others:
        assert any(m.startswith(path) for m in found)


def test_a_big_model_may_have_several_nodes() -> None:
    outcome = compiled(tune_runtime(BIG), tune({"numNodes": 2}, BIG))
    assert "llama3_3/70B_full_multinode" in node(outcome).command
