"""The models that benchmarks/llm.py tunes, and how: sizes of Qwen 2.5, which are public."""

from dataclasses import dataclass
from typing import Final

SMALL: Final = {
    "hidden_size": 896,
    "intermediate_size": 4864,
    "num_hidden_layers": 24,
    "num_attention_heads": 14,
    "num_key_value_heads": 2,
    "vocab_size": 151_936,
    "max_position_embeddings": 32_768,
    "tie_word_embeddings": True,
}
LARGE: Final = {
    **SMALL,
    "hidden_size": 3584,
    "intermediate_size": 18_944,
    "num_hidden_layers": 28,
    "num_attention_heads": 28,
    "num_key_value_heads": 4,
    "vocab_size": 152_064,
    "tie_word_embeddings": False,
}
TINY: Final = {
    **SMALL,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": 512,
}


@dataclass(frozen=True)
class Case:
    """A model and a method."""

    name: str
    model: str
    method: str
    length: int = 4096
    batch: int = 8
    steps: int = 12
    dtype: str = "auto"
    settings: tuple[str, ...] = ()
    """Further words for ours, and so for plain TRL with the same."""


CASES: Final = (
    Case("0.5B lora", "small", "lora", steps=24),
    Case("0.5B full", "small", "full", steps=24),
    Case("7B lora", "large", "lora", steps=8),
    Case("7B full", "large", "full", steps=8, dtype="bfloat16"),
)
TINY_CASES: Final = (
    Case("tiny lora", "tiny", "lora", 64, 4, 6),
    Case("tiny full", "tiny", "full", 64, 4, 6),
)
SHAPES: Final = {"small": SMALL, "large": LARGE, "tiny": TINY}
UNCOUNTED: Final = 3
"""Steps that are not measured: the first ones allocate and choose kernels."""


def flops_of(case: Case) -> float:
    """Operations for a token: forward, back to the inputs, and back to the weights if trained."""
    shape = SHAPES[case.model]
    hidden, layers = shape["hidden_size"], shape["num_hidden_layers"]
    keys = hidden // shape["num_attention_heads"] * shape["num_key_value_heads"]
    each = 2 * hidden * hidden + 2 * hidden * keys + 3 * hidden * shape["intermediate_size"]
    weights = layers * each + hidden * shape["vocab_size"]
    attention = 6 * layers * hidden * case.length
    return (6 if case.method == "full" else 4) * weights + attention
