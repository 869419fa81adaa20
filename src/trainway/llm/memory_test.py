from dataclasses import dataclass, replace

import pytest

from trainway.errors import UsageError
from trainway.llm.configuration import Method, configured
from trainway.llm.memory import GIB, Plan, check, estimate, fits, shape_of, total

QWEN = {
    "hidden_size": 3584,
    "intermediate_size": 18_944,
    "num_hidden_layers": 28,
    "num_attention_heads": 28,
    "num_key_value_heads": 4,
    "vocab_size": 152_064,
    "tie_word_embeddings": False,
}
FULL = Plan(Method.FULL, 4096, 1)
ADAPTER = Plan(Method.LORA, 4096, 1, master=False)


def test_parameters_by_the_configuration() -> None:
    shape = shape_of(QWEN)
    assert shape is not None
    assert shape.parameters == pytest.approx(7.6e9, rel=0.01)
    assert shape_of({"text_config": QWEN}) == shape
    assert shape_of({"model_type": "mystery"}) is None
    assert shape_of({**QWEN, "hidden_size": "wide"}) is None
    assert shape_of({**QWEN, "intermediate_size": [4096, 8192]}) is None  # Gemma 3n
    assert shape_of({**QWEN, "head_dim": float("inf")}) is None
    assert shape_of({**QWEN, "num_attention_heads": 0}) is None
    exact = shape_of(QWEN, 42)
    assert exact is not None
    assert exact.parameters == 42


@dataclass(frozen=True)
class Case:
    id: str
    plan: Plan
    at_least: float
    at_most: float


@pytest.mark.parametrize(
    "case",
    [
        Case("all weights in 32 bits", FULL, 120, 140),
        Case("all weights in 16 bits", replace(FULL, master=False), 56, 66),
        Case("spread over eight", replace(FULL, shards=8), 14, 24),
        Case("an adapter", ADAPTER, 14, 20),
        Case("an adapter, weights in 32 bits", replace(ADAPTER, master=True), 28, 34),
        Case("an adapter, weights spread", replace(ADAPTER, shards=8), 7, 10),
        Case("an adapter, activations kept",
             replace(ADAPTER, checkpointing=False), 40, 60),
        Case("an adapter on 4 bits", replace(FULL, method=Method.QLORA), 5, 11),
        Case("pairs with a reference", replace(FULL, copies=2, reference=True), 148, 172),
    ],
    ids=lambda case: case.id,
)  # fmt: skip
def test_how_much_a_model_of_7_billion_takes(case: Case) -> None:
    shape = shape_of(QWEN)
    assert shape is not None
    assert case.at_least < total(estimate(shape, case.plan)) / GIB < case.at_most


def test_what_does_not_fit_is_refused_with_the_sum() -> None:
    shape = shape_of(QWEN)
    assert shape is not None
    check(shape, ADAPTER, 80 * GIB)
    assert not fits(shape, FULL, 80 * GIB)
    with pytest.raises(UsageError) as raised:
        check(shape, FULL, 80 * GIB)
    lines = raised.value.message.splitlines()
    assert lines[0].startswith("it does not fit: it needs 1")
    assert "80.0 GiB" in lines[0]
    assert [line.split()[0] for line in lines[1:]][:3] == ["weights", "weights", "gradients"]
    hint = raised.value.hint or ""
    assert hint.startswith("it would fit with dtype=bfloat16, or with method=lora")


def test_where_nothing_helps_more_gpus_are_named() -> None:
    shape = shape_of({**QWEN, "num_hidden_layers": 2800})
    assert shape is not None
    with pytest.raises(UsageError) as raised:
        check(shape, replace(FULL, checkpointing=False, batch=4), 8 * GIB)
    assert raised.value.hint == "use more GPUs"


LLAMA_7B = {
    "hidden_size": 4096,
    "intermediate_size": 11_008,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "vocab_size": 32_000,
}
LLAMA_70B = {
    "hidden_size": 8192,
    "intermediate_size": 28_672,
    "num_hidden_layers": 80,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "vocab_size": 128_256,
}


@pytest.mark.parametrize(
    ("model", "plan", "published"),
    [
        (LLAMA_7B, FULL, 120),
        (LLAMA_7B, replace(FULL, master=False), 60),
        (LLAMA_7B, ADAPTER, 16),
        (LLAMA_7B, replace(ADAPTER, method=Method.QLORA), 6),
        (LLAMA_70B, FULL, 1200),
        (LLAMA_70B, replace(FULL, master=False), 600),
        (LLAMA_70B, ADAPTER, 160),
        (LLAMA_70B, replace(ADAPTER, method=Method.QLORA), 48),
    ],
)
def test_sums_are_those_of_published_tables(
    model: dict[str, int], plan: Plan, published: int
) -> None:
    """The table of LLaMA-Factory's README, in GB for short sequences."""
    shape = shape_of(model)
    assert shape is not None
    found = total(estimate(shape, replace(plan, length=1024))) / 1e9
    assert found == pytest.approx(published, rel=0.15)


def hints(plan: Plan, gib: int, processes: int = 1) -> list[str]:
    shape = shape_of(LLAMA_70B)
    assert shape is not None
    with pytest.raises(UsageError) as raised:
        check(shape, plan, gib * GIB, processes)
    hint = raised.value.hint or ""
    return hint.removeprefix("it would fit with ").split(", or with ")


def test_how_much_is_computed_at_once_is_a_setting_of_its_own() -> None:
    assert hints(replace(FULL, shards=32, batch=64), 80) == ["micro_batch=1"]
    kept = replace(FULL, shards=32, length=8192, batch=16, checkpointing=False)
    assert hints(kept, 80)[0] == "checkpointing=true and micro_batch=1"
    either = replace(kept, length=512, batch=4)
    assert hints(either, 80) == ["checkpointing=true", "micro_batch=1"]
    assert hints(replace(FULL, shards=8, batch=2), 80)[0] == "micro_batch=1 and method=lora"


def test_hints_are_words_of_settings() -> None:
    plans = (replace(FULL, batch=64, checkpointing=False), replace(ADAPTER, batch=64))
    for hint in {each for plan in plans for gib in (80, 141, 640) for each in hints(plan, gib, 8)}:
        if hint.endswith(" GPUs"):
            continue
        words = ["model=/m", "dataset=/d", "batch_size=64", "micro_batch=64", *hint.split(" and ")]
        assert configured({}, words, "").model == "/m"


def test_only_what_would_help_is_named() -> None:
    spread = replace(FULL, shards=8)
    assert "dtype=bfloat16" not in hints(replace(spread, length=1024), 141)  # FSDP2 ignores it
    assert hints(spread, 80) == ["method=lora", "method=qlora", "32 GPUs", "64 GPUs"]
    assert "method=qlora" not in hints(spread, 40)  # each GPU has all weights in 4 bits
    in_4_bits = replace(ADAPTER, method=Method.QLORA)
    assert hints(in_4_bits, 24) == ["use a GPU with more memory"]
    assert hints(in_4_bits, 40, processes=8) == ["method=lora"]
    assert hints(ADAPTER, 80, processes=8)[0] == "parallel=fsdp"  # it was parallel=ddp
