"""How much memory of a GPU a fine-tune takes, and whether it fits. Pure.

The sum is that of what is kept from one step to the next, and of what a step needs at its peak. It
is an estimate, on the safe side, that is made before anything is loaded: a job that cannot fit is
refused in a second and not after an hour in a queue. The arithmetic is shown with the refusal.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainway.errors import UsageError
from trainway.llm.configuration import Method

GIB: Final = 1 << 30
_BF16: Final = 2
_FP32: Final = 4
_NF4: Final = 0.56
"""Bytes of a weight in 4 bits, with its share of the scales."""
_RESERVE: Final = 0.06
"""What of a GPU the driver, the libraries and holes between blocks take."""
_MOST_HINTS: Final = 5
_AND: Final = " and "
"""Between settings that help together."""
_CHUNK: Final = 256
"""Tokens for which the head of the model is computed at once."""


@dataclass(frozen=True)
class Shape:
    """What of a model decides how much memory it takes."""

    parameters: int
    hidden: int
    layers: int
    intermediate: int
    vocabulary: int
    queries: int
    """The width of all heads together."""
    keys: int
    """The width of the heads of keys, and of values."""

    @property
    def linear(self) -> int:
        """The sum of inputs and outputs of the linear layers, of which adapters are made."""
        attention = 2 * (self.hidden + self.queries) + 2 * (self.hidden + self.keys)
        return self.layers * (attention + 3 * (self.hidden + self.intermediate))


def shape_of(config: Mapping[str, Any], parameters: int | None = None) -> Shape | None:
    """The shape by the configuration of a model; None where it says too little."""
    config = config.get("text_config") or config
    try:
        hidden, layers = int(config["hidden_size"]), int(config["num_hidden_layers"])
        heads, vocabulary = int(config["num_attention_heads"]), int(config["vocab_size"])
        intermediate = int(config.get("intermediate_size") or 4 * hidden)
        width = int(config.get("head_dim") or hidden // heads)
        keys = int(config.get("num_key_value_heads") or heads) * width
        experts = int(config.get("num_local_experts") or config.get("num_experts") or 1)
    except (KeyError, TypeError, ValueError, ArithmeticError):
        return None  # or it is not the same in all layers
    queries = heads * width
    if parameters is None:
        attention = 2 * hidden * queries + 2 * hidden * keys
        embeddings = vocabulary * hidden * (1 if config.get("tie_word_embeddings") else 2)
        parameters = layers * (attention + 3 * experts * hidden * intermediate) + embeddings
    return Shape(parameters, hidden, layers, intermediate, vocabulary, queries, keys)


@dataclass(frozen=True)
class Plan:
    """How a model is trained."""

    method: Method
    length: int
    batch: int
    """Sequences at once on a GPU."""
    shards: int = 1
    """GPUs over which weights, gradients and states of the optimizer are spread."""
    master: bool = True
    """Whether the weights are kept in 32 bits; those of an adapter always are."""
    checkpointing: bool = True
    rank: int = 16
    copies: int = 1
    """How many sequences there are for each of the data: DPO has two."""
    reference: bool = False
    """Whether a second model is needed beside the one that is trained."""


@dataclass(frozen=True)
class Item:
    """A line of the sum."""

    name: str
    size: float
    how: str


def estimate(shape: Shape, plan: Plan) -> list[Item]:
    """What one GPU has to hold, in bytes."""
    wide = _FP32 if plan.master else _BF16
    tokens = plan.batch * plan.length * plan.copies
    if plan.method is Method.FULL:
        trained, each, kind = shape.parameters, float(wide), f"{wide} bytes each"
    else:
        trained = plan.rank * shape.linear
        each = _NF4 if plan.method is Method.QLORA else float(wide)
        kind = "4 bits each" if plan.method is Method.QLORA else f"{wide} bytes each"
        wide = _FP32
    over = f" over {plan.shards} GPUs" if plan.shards > 1 else ""
    held = shape.parameters * each
    if plan.method is Method.QLORA:  # embeddings and the head are not quantized
        held += 2 * shape.vocabulary * shape.hidden * (_BF16 - _NF4)
    items = [Item("weights", held / plan.shards, f"{_billions(shape.parameters)}, {kind}{over}")]
    if plan.method is not Method.FULL:
        how = f"{_billions(trained)} of rank {plan.rank}, 4 bytes each{over}"
        items.append(Item("adapter", trained * _FP32 / plan.shards, how))
    if plan.method is Method.FULL and plan.master and plan.shards == 1:
        items.append(Item("weights to compute", held / 2, "the same, 2 bytes each"))
    items += [
        Item("gradients", trained * wide / plan.shards, f"{_billions(trained)}{over}"),
        Item("optimizer", 2 * trained * wide / plan.shards, f"two states of each{over}"),
    ]
    if plan.reference:
        items.append(Item("reference model", held / plan.shards, f"as the weights{over}"))
    return [*items, *_step(shape, plan, tokens)]


def _step(shape: Shape, plan: Plan, tokens: int) -> list[Item]:
    """What a step needs at its peak."""
    rows = f"{plan.batch * plan.copies} x {plan.length} tokens"
    each = 14 * shape.hidden + 3 * shape.queries + 4 * shape.keys + 4 * shape.intermediate
    if plan.method is not Method.FULL:  # adapters keep inputs of their own
        each += 5 * shape.hidden + shape.queries + shape.intermediate
    layer = tokens * _BF16 * each
    if plan.checkpointing:
        kept = shape.layers * tokens * shape.hidden * _BF16 + 2 * layer
        how = f"{rows}, {shape.layers} layers computed twice"
    else:
        kept, how = shape.layers * layer, f"{rows}, {shape.layers} layers kept"
    head = min(tokens, _CHUNK * 4) * shape.vocabulary * _FP32 * 2 + 2 * tokens * shape.hidden * 4
    items = [Item("activations", kept, how), Item("head and loss", head, "in chunks")]
    if plan.shards > 1:
        gathered = 2 * shape.parameters / max(shape.layers, 1) * _BF16 * 2
        items.append(Item("gathered layers", gathered, "two at a time"))
    return items


def total(items: list[Item]) -> float:
    """The sum in bytes."""
    return sum(item.size for item in items)


def usable(memory: int) -> float:
    """How much of the memory of a GPU a training can have."""
    return memory * (1 - _RESERVE)


def fits(shape: Shape, plan: Plan, memory: int) -> bool:
    """Whether it fits a GPU with so many bytes."""
    return total(estimate(shape, plan)) <= usable(memory)


def check(shape: Shape, plan: Plan, memory: int, processes: int = 1) -> None:
    """Refuse what cannot fit, with the sum and with what would help.

    There are so many processes, each with a GPU, whether or not the weights are spread over them.
    """
    items = estimate(shape, plan)
    if total(items) <= usable(memory):
        return
    others = _others(plan, max(processes, plan.shards))
    fitting = [text for text, other in others if fits(shape, other, memory)]
    hints = [text for text in fitting if not _is_more(text, fitting)][:_MOST_HINTS]
    lines = [f"  {item.name:<20}{item.size / GIB:8.1f} GiB  {item.how}" for item in items]
    more = "a GPU with more memory" if plan.method is Method.QLORA else "more GPUs"
    raise UsageError(
        f"it does not fit: it needs {total(items) / GIB:.1f} GiB of each GPU, which has"
        f" {memory / GIB:.1f} GiB, and {usable(memory) / GIB:.1f} GiB of that for a training\n"
        + "\n".join(lines),
        hint=f"it would fit with {', or with '.join(hints)}" if hints else f"use {more}",
    )


def _is_more(text: str, others: list[str]) -> bool:
    """Whether less of the same settings helps, too."""
    words = set(text.split(_AND))
    return any(set(other.split(_AND)) < words for other in others)


def _others(plan: Plan, processes: int) -> list[tuple[str, Plan]]:
    """Other ways to train the same, gentle ones first.

    Weights in 4 bits are never spread over GPUs, and those that are trained are spread in 32 bits.
    """
    from dataclasses import replace  # noqa: PLC0415 - only for refusals

    kept = [] if plan.checkpointing else ["checkpointing=true"]
    several = ["micro_batch=1"] if plan.batch > 1 else []
    ways = [(text, replace(plan, checkpointing=True)) for text in kept]
    ways += [(text, replace(plan, batch=1)) for text in several]
    smaller = replace(plan, checkpointing=True, batch=1)
    if kept and several:
        ways.append((_AND.join([*kept, *several]), smaller))
    first = len(ways)
    is_full, is_qlora = plan.method is Method.FULL, plan.method is Method.QLORA
    spread = replace(smaller, master=plan.master or is_full)
    if processes > plan.shards and not is_qlora:
        ways.append(("parallel=fsdp", replace(spread, shards=processes)))
    if plan.master and not is_qlora and (plan.shards == 1 or not is_full):
        ways.append(("dtype=bfloat16", replace(smaller, master=False)))
    gentle = replace(smaller, master=False, reference=False)
    if is_full or (is_qlora and processes > 1):
        ways.append(("method=lora", replace(gentle, method=Method.LORA, shards=processes)))
    if not is_qlora:
        ways.append(("method=qlora", replace(gentle, method=Method.QLORA, shards=1)))
    ways.append((f"max_length={plan.length // 4}", replace(smaller, length=plan.length // 4)))
    if not is_qlora:
        ways += [
            (f"{processes * times} GPUs", replace(spread, shards=processes * times))
            for times in (2, 4, 8)
        ]
    others = [(_AND.join([*kept, *several, text]), other) for text, other in ways[first:]]
    return ways[:first] + others


def _billions(count: float) -> str:
    for size, name in ((1e9, "billion"), (1e6, "million")):
        if count >= size:
            return f"{count / size:.2f} {name}"
    return f"{count:.0f}"
