"""The loss of packed examples, and how weights are to change, against each example by itself.

A program for the environment with torch: it prints one line for each family of models.
"""

import sys
from typing import Any, Final

import torch
from transformers import CONFIG_MAPPING, AutoModelForCausalLM

from trainway.llm.packed_attention import FAMILIES, register

LENGTHS: Final = (5, 11, 1, 8, 30)
SHAPE: Final = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "vocab_size": 97,
}
WINDOWS: Final = {"mistral": 7}


def model_of(family: str, attention: str) -> Any:
    torch.manual_seed(3)
    more = {"sliding_window": WINDOWS[family]} if family in WINDOWS else {}
    config = CONFIG_MAPPING[family](**SHAPE, **more)
    return AutoModelForCausalLM.from_config(config, attn_implementation=attention).train()


def results(model: Any, rows: list[dict[str, Any]]) -> list[Any]:
    """The sum of the losses of all tokens, and the gradients."""
    total = torch.zeros(())
    for row in rows:
        labels = row.pop("labels")
        said = model(**row, use_cache=False).logits[0, :-1]
        total = total + torch.nn.functional.cross_entropy(said, labels[0, 1:], reduction="sum")
    total.backward()
    return [total.detach(), *(each.grad for each in model.parameters() if each.grad is not None)]


def packed(examples: list[Any]) -> dict[str, Any]:
    """One row, as TRL's collator gives it."""
    labels = [torch.cat([torch.tensor([-100]), each[1:]]) for each in examples]
    starts = torch.tensor([0, *torch.tensor(LENGTHS).cumsum(0)], dtype=torch.int32)
    places = torch.cat([torch.arange(each) for each in LENGTHS])
    return {
        "input_ids": torch.cat(examples)[None],
        "labels": torch.cat(labels)[None],
        "position_ids": places[None],
        "cu_seq_lens_q": starts,
        "cu_seq_lens_k": starts,
        "max_length_q": max(LENGTHS),
        "max_length_k": max(LENGTHS),
    }


def main() -> int:
    torch.manual_seed(1)
    examples = [torch.randint(0, SHAPE["vocab_size"], (length,)) for length in LENGTHS]
    alone = [{"input_ids": each[None], "labels": each[None]} for each in examples if len(each) > 1]
    is_fine = True
    for family in sorted(FAMILIES):
        one = results(model_of(family, "sdpa"), [dict(row) for row in alone])
        other = results(model_of(family, register()), [packed(examples)])
        pairs = zip(one, other, strict=True)
        is_same = all(torch.allclose(*pair, atol=1e-4, rtol=1e-4) for pair in pairs)
        said = "same" if is_same else f"other: {one[0]} {other[0]}"
        sys.stdout.write(f"{family} {said}\n")
        is_fine &= is_same
    return 0 if is_fine else 1


if __name__ == "__main__":
    sys.exit(main())
