"""What a fine-tune is asked to do: one flat set of settings, from a YAML file and from words.

Words such as `method=full` or `columns.prompt=question` win over the file. A wrong setting is one
sentence that names it; nothing is loaded before all of them are right.
"""

from __future__ import annotations  # a setting is checked by what its annotation says

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any, Final

from trainway.errors import UsageError


class Task(Enum):
    """What is learned from."""

    SFT = "sft"
    DPO = "dpo"


class Method(Enum):
    """Which weights are trained."""

    FULL = "full"
    LORA = "lora"
    QLORA = "qlora"


_CHOICES: Final = {
    "method": tuple(each.value for each in Method),
    "weights": ("pretrained", "random"),
    "dtype": ("auto", "bfloat16", "float32"),
    "attention": ("auto", "sdpa", "eager", "varlen", "flash_attention_2", "flash_attention_3"),
    "parallel": ("auto", "fsdp", "ddp"),
    "scheduler": ("cosine", "linear", "constant", "constant_with_warmup"),
}
_POSITIVE: Final = (
    "max_length", "batch_size", "micro_batch", "epochs", "max_steps", "learning_rate",
    "lora_rank", "lora_alpha", "logging_steps", "save_steps", "keep_checkpoints", "beta",
    "memory_gib",
)  # fmt: skip
_ELSEWHERE: Final = {
    "lr": "learning_rate", "num_epochs": "epochs", "num_train_epochs": "epochs",
    "steps": "max_steps", "per_device_train_batch_size": "micro_batch",
    "train_batch_size": "batch_size", "gradient_checkpointing": "checkpointing",
    "max_seq_length": "max_length", "max_seq_len": "max_length", "seq_len": "max_length",
    "attn_implementation": "attention", "lr_scheduler_type": "scheduler",
    "lr_scheduler": "scheduler", "warmup_ratio": "warmup", "torch_compile": "compile",
    "use_liger_kernel": "liger", "save_total_limit": "keep_checkpoints", "bf16": "dtype",
    "target_modules": "lora_targets", "lora_target_modules": "lora_targets", "lora_r": "lora_rank",
    "rank": "lora_rank", "alpha": "lora_alpha", "dropout": "lora_dropout", "torch_dtype": "dtype",
    "precision": "dtype", "output_dir": "output", "dataset_split": "split",
    "model_name_or_path": "model", "dataset_name": "dataset", "eval_split": "split",
}  # fmt: skip
"""What TRL and others call them."""
_MOST: Final = 1 << 31
"""No step, size or memory is larger; what is counts as a slip, and not as minutes of counting."""
_SEEDS: Final = 1 << 32
"""What numpy takes."""
_FRACTIONS: Final = ("warmup", "lora_dropout")


@dataclass(frozen=True)
class Configuration:
    """A fine-tune; None lets the program choose."""

    model: str
    """A folder with the model, or its name on the hub."""
    dataset: str
    """A file or folder with the data, or its name on the hub."""
    output: str | None = None
    """Where everything is written; by default the output directory of the job."""
    method: str = "lora"
    weights: str = "pretrained"
    """`random` trains from the configuration of the model alone."""
    split: str = "train"
    columns: Mapping[str, str] = field(default_factory=dict)
    """Which column of the data is which: `{prompt: question}`."""
    chat_template: str | None = None
    """A Jinja file, where the tokenizer has no template of its own."""
    max_length: int = 2048
    packing: bool | None = None
    batch_size: int = 8
    """Sequences of each process that make one step of the optimizer."""
    micro_batch: int | None = None
    """How many of them are computed at once; the memory of the GPU decides."""
    epochs: float = 1.0
    max_steps: int | None = None
    learning_rate: float | None = None
    scheduler: str = "cosine"
    warmup: float = 0.03
    """Which part of the steps the learning rate takes to rise."""
    weight_decay: float = 0.0
    beta: float = 0.1
    """DPO: how far the model may go from where it began."""
    lora_rank: int = 16
    lora_alpha: int = 32
    lora_dropout: float = 0.0
    lora_targets: str = "all-linear"
    """The names of the layers that get adapters, with commas between them."""
    dtype: str = "auto"
    attention: str = "auto"
    parallel: str = "auto"
    checkpointing: bool | None = None
    """Whether activations are computed twice instead of being kept."""
    compile: bool = False
    liger: bool = False
    merge: bool = True
    """Whether the adapter is also saved merged into the model."""
    seed: int = 42
    logging_steps: int = 1
    save_steps: int | None = None
    """Steps between two checkpoints; by default a tenth of the training."""
    keep_checkpoints: int | None = None
    """How many stay; by default two while it trains, and none when it is done."""
    memory_gib: float | None = None
    """The memory of a GPU, where it is not the one that is found."""


def configured(given: Mapping[str, Any], words: Iterable[str], source: str) -> Configuration:
    """The configuration of a file and of words; a UsageError says what is wrong with which."""
    settings: dict[str, Any] = dict(given)
    for word in words:
        _apply(settings, word)
    for name, value in settings.items():
        kind = _kind(name)
        if not kind:
            hint = _similar(str(name))
            raise UsageError(f"{source}: {name}: there is no such setting", hint=hint)
        settings[name] = _checked(name, kind, value)
    for name in ("model", "dataset"):
        if not settings.get(name):
            raise UsageError(f"{name}: it is missing", field=name, hint=f"add {name}=PATH")
    return Configuration(**settings)


def setting_names() -> list[str]:
    """All settings there are."""
    return [each.name for each in fields(Configuration)]


def _kind(name: str) -> str:
    """What a setting is, by its annotation; empty: there is none of this name."""
    return next((str(each.type) for each in fields(Configuration) if each.name == name), "")


def _apply(settings: dict[str, Any], word: str) -> None:
    name, equals, text = word.partition("=")
    if not equals or not name:
        raise UsageError(f"{word!r} is not a setting", hint="write NAME=VALUE, such as method=lora")
    group, dot, key = name.partition(".")
    if not dot:
        settings[name] = _value(text, is_text=_kind(name).startswith("str"))
        return
    if group != "columns" or not key:
        raise UsageError(f"{name}: there is no such setting", hint=_similar(group))
    former = settings.get(group)
    settings[group] = {**(former if isinstance(former, Mapping) else {}), key: text}


def _value(text: str, *, is_text: bool) -> Any:
    """A word as YAML would read it; what looks like a number is one, unless it is to be a text."""
    if is_text:
        return None if text.lower() in ("null", "") else text
    if text.lower() in ("true", "false", "null", ""):
        return {"true": True, "false": False}.get(text.lower())
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _checked(name: str, kind: str, value: Any) -> Any:
    if value is None and "None" in kind:
        return None
    check = next(found for prefix, found in _KINDS if kind.startswith(prefix))
    value = check(name, value)
    if name in _CHOICES and value not in _CHOICES[name]:
        raise _wrong(name, f"it is {value!r}", f"use one of {', '.join(_CHOICES[name])}")
    if name in _POSITIVE and value <= 0:
        raise _wrong(name, f"it is {value}", "it must be more than 0")
    if name in _POSITIVE and value > _MOST:
        raise _wrong(name, f"it is {value:.4g}", f"it must be at most {_MOST}")
    if name == "seed" and not 0 <= value < _SEEDS:
        raise _wrong(name, f"it is {value}", f"it must be from 0 to {_SEEDS - 1}")
    if name == "weight_decay" and value < 0:
        raise _wrong(name, f"it is {value}", "it must be 0 or more")
    if name in _FRACTIONS and not 0 <= value < 1:
        raise _wrong(name, f"it is {value}", "it must be from 0 to less than 1")
    return value


def _text(name: str, value: Any) -> str:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ",".join(value)
    if isinstance(value, bool | dict | list) or value is None:
        raise _wrong(name, f"it is {value!r}", "it must be a text")
    return str(value)


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise _wrong(name, f"it is {value!r}", "it must be true or false")
    return value


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(name, f"it is {value!r}", "it must be a whole number")
    return value


def _number(name: str, value: Any) -> float:
    try:
        number = float(value) if not isinstance(value, bool) else float("nan")
    except (TypeError, ValueError):  # YAML reads 1e-5 as a text
        number = float("nan")
    if number != number or number in (float("inf"), float("-inf")):  # noqa: PLR0124 - NaN
        raise _wrong(name, f"it is {value!r}", "it must be a number")
    return number


def _table(name: str, value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(each, str) for each in value.values()):
        raise _wrong(name, f"it is {value!r}", "write {prompt: question}")
    return {str(key): each for key, each in value.items()}


_KINDS: Final[tuple[tuple[str, Callable[[str, Any], Any]], ...]] = (
    ("str", _text),
    ("bool", _flag),
    ("int", _whole),
    ("float", _number),
    ("Mapping", _table),
)


def _wrong(name: str, what: str, hint: str) -> UsageError:
    return UsageError(f"{name}: {what}", field=name, hint=hint)


def meant(name: str) -> str:
    """The setting that a name stands for, here or elsewhere, or that it is a slip of; or none."""
    from difflib import get_close_matches  # noqa: PLC0415 - only for slips

    word = name.lower().replace("-", "_")
    alike = get_close_matches(word, setting_names(), 1)
    return _ELSEWHERE.get(word) or (alike[0] if alike else "")


def _similar(name: str) -> str:
    found = meant(name)
    return f"did you mean {found}?" if found else f"there are {', '.join(setting_names())}"
