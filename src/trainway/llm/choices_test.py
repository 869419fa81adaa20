from dataclasses import dataclass

import pytest

from trainway.errors import UsageError
from trainway.llm.choices import Machine, arguments, choose, summary
from trainway.llm.configuration import Task, configured
from trainway.llm.memory import GIB, shape_of
from trainway.llm.memory_test import QWEN

SMALL = {**QWEN, "hidden_size": 896, "intermediate_size": 4864, "num_hidden_layers": 24}
CPU = Machine()
H200 = Machine(1, 139 * GIB, has_bf16=True)
EIGHT = Machine(8, 139 * GIB, has_bf16=True)
FLASH = Machine(1, 139 * GIB, has_bf16=True, installed=frozenset({"flash_attn", "varlen"}))
KERNEL = Machine(1, 139 * GIB, has_bf16=True, installed=frozenset({"varlen"}))


@dataclass(frozen=True)
class Case:
    id: str
    machine: Machine
    words: tuple[str, ...]
    asked: dict[str, object]
    task: Task = Task.SFT
    large: bool = False


@pytest.mark.parametrize(
    "case",
    [
        Case("a CPU", CPU, (), {
            "use_cpu": True, "bf16": False, "packing": True, "per_device_train_batch_size": 8,
            "gradient_checkpointing": False, "learning_rate": 2e-4}),
        Case("two on CPUs", Machine(2), (), {"ddp_backend": "gloo"}),
        Case("one GPU keeps what fits", H200, (), {
            "bf16": True, "per_device_train_batch_size": 1, "gradient_accumulation_steps": 8,
            "gradient_checkpointing": False}),
        Case("with flash attention several rows at once", FLASH, ("max_length=4096",), {
            "per_device_train_batch_size": 4, "gradient_accumulation_steps": 2}),
        Case("and with torch's kernel for packed rows", KERNEL, ("max_length=4096",), {
            "per_device_train_batch_size": 4, "gradient_accumulation_steps": 2}),
        Case("what does not fit is computed twice", Machine(1, 24 * GIB, has_bf16=True), (), {
            "gradient_checkpointing": True}, large=True),
        Case("eight GPUs", EIGHT, ("method=full",), {
            "fsdp": True, "learning_rate": 1e-5, "gradient_checkpointing": False}),
        Case("copies, if asked for", EIGHT, ("parallel=ddp",), {"ddp_backend": "nccl"}),
        Case("pairs", H200, ("beta=0.2",), {"beta": 0.2, "learning_rate": 1e-5}, Task.DPO),
        Case("as asked", H200, ("micro_batch=4", "checkpointing=true", "save_steps=5"), {
            "per_device_train_batch_size": 4, "gradient_checkpointing": True, "save_steps": 5}),
    ],
    ids=lambda case: case.id,
)  # fmt: skip
def test_what_trl_is_asked_for(case: Case) -> None:
    config = configured({}, ["model=/m", "dataset=/d", *case.words], "words")
    shape = shape_of(QWEN if case.large else SMALL)
    choices = choose(case.task, config, case.machine, shape, "qwen2")
    asked = arguments(case.task, config, choices, case.machine)
    assert {key: asked[key] for key in case.asked} == case.asked
    assert asked["save_total_limit"] >= 2
    assert ("packing" in asked) is (case.task is Task.SFT)
    assert summary(case.task, config, choices, case.machine).startswith(case.task.value)


@pytest.mark.parametrize(
    ("machine", "words", "task", "said", "hint"),
    [
        (H200, ["method=qlora"], Task.SFT, "method: qlora needs the library bitsandbytes",
         "add --packages bitsandbytes"),
        (Machine(installed=frozenset({"bitsandbytes"})), ["method=qlora"], Task.SFT,
         "method: qlora needs a GPU", "method=lora"),
        (Machine(2, GIB, installed=frozenset({"bitsandbytes"})), ["method=qlora", "parallel=fsdp"],
         Task.SFT, "parallel: weights in 4 bits", "leave it out"),
        (Machine(2), ["parallel=fsdp"], Task.SFT, "parallel: weights are spread over GPUs only",
         "use ddp"),
        (H200, ["liger=true"], Task.SFT, "liger: liger-kernel is not installed", "liger=false"),
        (H200, ["attention=flash_attention_2"], Task.SFT, "attention: flash_attention_2", "sdpa"),
        (H200, ["attention=varlen"], Task.SFT, "attention: varlen needs torch 2.10", "sdpa"),
        (KERNEL, ["attention=varlen", "dtype=float32"], Task.SFT, "attention: varlen", "sdpa"),
        (CPU, ["attention=varlen", "packing=false"], Task.SFT, "attention: varlen is for packed",
         "packing=true"),
        (H200, ["packing=true"], Task.DPO, "packing: DPO compares pairs", "leave it out"),
        (CPU, ["micro_batch=3"], Task.SFT, "micro_batch: it is 3", "multiple"),
        (H200, ["method=full"], Task.SFT, "it does not fit", "dtype=bfloat16"),
        (H200, ["memory_gib=4"], Task.SFT, "it does not fit", "GPUs"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused(
    machine: Machine, words: list[str], task: Task, said: str, hint: str
) -> None:
    config = configured({}, ["model=/m", "dataset=/d", *words], "words")
    with pytest.raises(UsageError) as raised:
        choose(task, config, machine, shape_of({**QWEN, "num_hidden_layers": 32}))
    assert raised.value.message.startswith(said)
    assert hint in (raised.value.hint or "")


def test_a_model_of_unknown_shape_is_not_refused() -> None:
    config = configured({}, ["model=/m", "dataset=/d"], "words")
    choices = choose(Task.SFT, config, H200, None)
    assert (choices.micro_batch, choices.checkpointing) == (1, True)


@pytest.mark.parametrize(
    ("machine", "words", "family", "attention"),
    [
        (CPU, [], "qwen2", "varlen"),
        (CPU, ["packing=false"], "qwen2", "sdpa"),
        (CPU, [], "gemma2", "sdpa"),
        (H200, [], "qwen2", "sdpa"),
        (KERNEL, [], "llama", "varlen"),
        (KERNEL, ["dtype=float32"], "llama", "sdpa"),
        (KERNEL, [], "", "sdpa"),
        (KERNEL, ["attention=varlen"], "", "varlen"),
        (FLASH, [], "llama", "flash_attention_2"),
        (KERNEL, ["attention=sdpa"], "llama", "sdpa"),
    ],
)
def test_which_attention(machine: Machine, words: list[str], family: str, attention: str) -> None:
    config = configured({}, ["model=/m", "dataset=/d", *words], "words")
    choices = choose(Task.SFT, config, machine, shape_of(SMALL), family)
    assert choices.attention == attention
