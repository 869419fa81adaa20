"""What a folder has of a former fine-tune: one that learned something else is not gone on from.

Whoever names a folder for the output may have named it before. A job that took the result of other
data for its own would end well, and have another model than was asked for.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from trainway.llm.checkpoints import FOLDER, complete_steps
from trainway.llm.configuration import Configuration, Task

RESULT: Final = "finetune.json"
SETTINGS: Final = "settings"
"""What has them in the result."""
_NOTE: Final = "settings.json"
"""Beside the checkpoints."""
_ORIGIN: Final = ("task", "model", "dataset", "split", "method", "weights")
"""What a training that goes on must share with the one before; steps and rates may change."""
_ONLY_HOW: Final = (
    "output", "micro_batch", "attention", "parallel", "checkpointing", "compile", "liger",
    "logging_steps", "save_steps", "keep_checkpoints", "memory_gib",
)  # fmt: skip
"""Settings that decide how and where it is learned, and not what."""


def learned(task: Task, config: Configuration) -> dict[str, Any]:
    """The settings that decide what is learned, as JSON has them."""
    settings = {"task": task.value, **asdict(config)}
    told = {name: value for name, value in settings.items() if name not in _ONLY_HOW}
    return dict(json.loads(json.dumps(told)))


def another(asked: Mapping[str, Any], output: Path, processes: int) -> str:
    """What the folder has of another fine-tune, and how that differs; empty: nothing."""
    if (output / RESULT).exists():
        result = _read(output / RESULT)
        settings = result.get(SETTINGS) if isinstance(result, dict) else None
        found, differs = "the result", _difference(settings, asked, asked)
    elif complete_steps(output / FOLDER, processes):
        differs = _difference(_read(output / FOLDER / _NOTE), asked, _ORIGIN)
        found = "checkpoints"
    else:
        return ""
    return f"{output} has {found} of another fine-tune: {differs}" if differs else ""


def note(asked: Mapping[str, Any], output: Path) -> None:
    """Say beside the checkpoints what they are of."""
    folder = output / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{_NOTE}.{os.getpid()}"
    part.write_text(json.dumps(asked), "utf-8")
    part.replace(folder / _NOTE)


def _difference(known: Any, asked: Mapping[str, Any], names: Iterable[str]) -> str:
    """The first of these settings that is another one; what is not known is the same."""
    if not isinstance(known, dict):
        return ""
    for name in names:
        if name in known and known[name] != asked[name]:
            return f"{name} was {_shown(known[name])} and is {_shown(asked[name])}"
    return ""


def _shown(value: Any) -> str:
    return "not set" if value is None else value if isinstance(value, str) else json.dumps(value)


def _read(file: Path) -> Any:
    try:
        return json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return None
