"""What a training leaves: the adapter, the whole model, a card beside each, and where they are.

Each folder is written under another name and renamed when it is whole; what says where they are
comes last, so a job that is killed in between does the rest when it starts again.
"""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from trainway.llm.checkpoints import FOLDER, superfluous
from trainway.llm.choices import Choices
from trainway.llm.configuration import Configuration, Method, Task
from trainway.llm.former import RESULT, SETTINGS, learned
from trainway.llm.loading import base_model
from trainway.llm.model_card import Outcome, card, is_public
from trainway.sdk.fetched_names import names_in

ADAPTER: Final = "adapter"
MODEL: Final = "model"
_ADAPTER_CONFIG: Final = "adapter_config.json"


def save(
    trainer: Any,
    task: Task,
    config: Configuration,
    choices: Choices,
    outcome: Outcome,
    output: Path,
) -> None:
    """Write everything; all processes call it, the first one writes."""
    trainer.args.save_on_each_node = False  # that is for checkpoints
    told = named(config)
    kind = MODEL if config.method == Method.FULL.value else ADAPTER

    def trained(trainer: Any, folder: Path) -> None:
        trainer.save_model(str(folder))
        if trainer.is_world_process_zero():
            (folder / "training_args.bin").unlink(missing_ok=True)  # a pickle helps nobody
            if kind == ADAPTER and told.model != config.model and is_public(told.model):
                name_base(folder, told.model)

    made = {kind: _put(trainer, output / kind, card(task, told, outcome, kind=kind), trained)}
    if kind == ADAPTER and config.merge:
        text = card(task, told, outcome, kind=MODEL)

        def merged(trainer: Any, folder: Path) -> None:
            if trainer.is_world_process_zero():
                _merged(trainer, config, choices, output / ADAPTER).save_pretrained(str(folder))

        made[MODEL] = _put(trainer, output / MODEL, text, merged)
    trainer.accelerator.wait_for_everyone()
    if trainer.is_world_process_zero():
        _write_result(output, task, told, outcome, made)
    trainer.accelerator.wait_for_everyone()
    if trainer.is_local_process_zero():  # nodes may have one each
        for old in superfluous(output / FOLDER, config.keep_checkpoints):
            shutil.rmtree(old, ignore_errors=True)
    if trainer.is_world_process_zero():
        for each, place in made.items():
            print(f"saved {each} {place}", flush=True)  # noqa: T201 - the log of the job


def named(config: Configuration) -> Configuration:
    """The same with the names of model and data in place of folders that they were fetched to."""
    names = names_in(os.environ)
    model, data = names.get("model", config.model), names.get("dataset", config.dataset)
    return replace(config, model=model, dataset=data)


def _put(trainer: Any, folder: Path, text: str, write: Callable[[Any, Path], None]) -> str:
    """Write a folder with the tokenizer and a card, whole or not at all."""
    part = folder.with_name(f"{folder.name}.partial")
    if trainer.is_world_process_zero():
        shutil.rmtree(part, ignore_errors=True)
    trainer.accelerator.wait_for_everyone()
    write(trainer, part)
    if trainer.is_world_process_zero():
        trainer.processing_class.save_pretrained(str(part))
        (part / "README.md").write_text(text, "utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
    return str(folder)


def name_base(adapter: Path, model: str) -> None:
    """Let an adapter name its model as the hub does, and not the folder of the job that had it."""
    file = adapter / _ADAPTER_CONFIG
    found = json.loads(file.read_text("utf-8"))
    found["base_model_name_or_path"] = model
    file.write_text(json.dumps(found, indent=2, sort_keys=True), "utf-8")


def _merged(trainer: Any, config: Configuration, choices: Choices, adapter: Path) -> Any:
    """The model with the adapter in its weights."""
    if choices.parallel != "fsdp" and config.method == Method.LORA.value:
        return trainer.accelerator.unwrap_model(trainer.model).merge_and_unload()
    from peft import PeftModel  # noqa: PLC0415 - slow

    base = base_model(config, choices)
    return PeftModel.from_pretrained(base, str(adapter)).merge_and_unload()


def _write_result(
    output: Path, task: Task, config: Configuration, outcome: Outcome, made: dict[str, str]
) -> None:
    result = {
        "task": task.value,
        "base": config.model,
        "dataset": config.dataset,
        "method": config.method,
        "saved": made,
        SETTINGS: learned(task, config),
        **asdict(outcome),
    }
    part = output / f"{RESULT}.partial"
    with part.open("w", encoding="utf-8") as file:
        json.dump(result, file, indent=2)
        file.flush()
        os.fsync(file.fileno())
    part.replace(output / RESULT)
