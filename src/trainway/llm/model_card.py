"""The model card: what a tuned model is and where it comes from, as the hub shows it. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from trainway.llm.configuration import Configuration, Task

_LIBRARIES = {"adapter": "peft", "model": "transformers"}


@dataclass(frozen=True)
class Outcome:
    """How a training went."""

    steps: int
    loss: float | None
    tokens: int | None
    seconds: float
    versions: Mapping[str, str]


def card(task: Task, config: Configuration, outcome: Outcome, *, kind: str) -> str:
    """The text of README.md beside an `adapter` or a whole `model`."""
    head: dict[str, Any] = {
        "library_name": _LIBRARIES[kind],
        "pipeline_tag": "text-generation",
        "tags": ["trainway", "trl", task.value, config.method],
    }
    if is_public(config.model):
        head["base_model"] = config.model
    if is_public(config.dataset):
        head["datasets"] = [config.dataset]
    lines = ["---", *(f"{key}: {json.dumps(value)}" for key, value in head.items()), "---", ""]
    method = {"full": "all weights", "lora": "a LoRA adapter", "qlora": "a QLoRA adapter"}
    base, data = _last(config.model), _last(config.dataset)
    lines += [
        f"# {base}, tuned on {data}",
        "",
        f"{base} was tuned on {data} by {task.value.upper()}, with Trainway and TRL.",
        f"What was trained: {method[config.method]}.",
        "",
        "| | |",
        "|---|---|",
        f"| Steps | {outcome.steps} |",
    ]
    if outcome.loss is not None:
        lines.append(f"| Last loss | {outcome.loss:.4f} |")
    if outcome.tokens:
        lines.append(f"| Tokens | {outcome.tokens} |")
    lines += [f"| Time | {outcome.seconds:.0f} s |", *_settings(config)]
    lines += ["", "Made with " + ", ".join(f"{k} {v}" for k, v in outcome.versions.items()) + "."]
    return "\n".join([*lines, ""])


def _settings(config: Configuration) -> list[str]:
    """What was set other than by default, without the places of the machine that trained."""
    private = ("model", "dataset", "output", "chat_template")
    rows = []
    for each in fields(config):
        value = getattr(config, each.name)
        default = {} if each.name == "columns" else each.default
        if each.name not in private and value != default:
            text = str(value).replace("|", "\\|").replace("\n", " ")
            rows.append(f"| `{each.name}` | {text} |")
    return rows


def is_public(name: str) -> bool:
    """Whether it can be a name on the hub, and no path."""
    return name.count("/") == 1 and not name.startswith(("/", ".", "~")) and ":" not in name


def _last(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2] or name
