"""The training itself: load, train, go on from where it was, save. Everything heavy is here."""

import json
import os
import time
import warnings
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from trainway.errors import TrainwayError, UnavailableError, UnreadableError, UsageError
from trainway.llm import checkpoints, dataset, former, memory, packed_attention
from trainway.llm.choices import VARLEN, Choices, Machine, arguments, choose, summary
from trainway.llm.configuration import Configuration, Method, Task
from trainway.llm.installation import NEEDED, check_installed
from trainway.llm.loading import first_line, is_read_once, load_model, load_spread_model
from trainway.llm.model_card import Outcome
from trainway.llm.progress import callback
from trainway.llm.saving import named, save
from trainway.llm.weights import parameters

_OPTIONAL: Final = ("bitsandbytes", "flash_attn", "kernels", "liger_kernel")
_OUTPUT: Final = "TRAINWAY_OUTPUT_DIR"


def train(task: Task, config: Configuration) -> None:
    """Do all of it; on every process of the job alike."""
    check_installed()
    _quieten()
    _stay_offline(config)
    output = output_of(config)
    description = description_of(config)
    from accelerate import PartialState  # noqa: PLC0415 - slow

    machine = found_machine(PartialState)
    shape = memory.shape_of(description, parameters(Path(config.model).expanduser()))
    choices = choose(task, config, machine, shape, str(description.get("model_type")))
    is_first = PartialState().is_main_process
    if is_first:
        print(summary(task, config, choices, machine), flush=True)  # noqa: T201 - the job's log
    told = former.learned(task, named(config))
    if config.output:  # that of a job has nothing else
        _refuse_another(told, output, machine, is_first=is_first)
    if _broadcast((output / former.RESULT).exists()):
        if is_first:
            print(f"already done: {output / former.RESULT}", flush=True)  # noqa: T201 - as above
        return
    if is_first:
        former.note(told, output)
    trainer = _trainer(task, config, choices, machine, output)
    start = _start(trainer, output, machine.processes)
    began = time.monotonic()
    trainer.train(resume_from_checkpoint=start)
    outcome = _outcome(trainer, time.monotonic() - began)
    save(trainer, task, config, choices, outcome, output)
    trainer.accelerator.end_training()  # a process that just exits may abort in gloo's threads


def _refuse_another(
    asked: dict[str, Any], output: Path, machine: Machine, *, is_first: bool
) -> None:
    """End where a folder has something of another fine-tune."""
    found = former.another(asked, output, machine.processes) if is_first else ""
    if problem := _broadcast(found):
        hint = "name another folder, or remove what is in this one"
        raise UsageError(f"output: {problem}", field="output", hint=hint)


def output_of(config: Configuration) -> Path:
    """Where everything is written."""
    return Path(config.output or os.environ.get(_OUTPUT) or "output")


def _quieten() -> None:
    """Leave out what readers of the log can do nothing about, and what would be told twice."""
    warnings.filterwarnings("ignore", category=FutureWarning)
    warnings.filterwarnings("ignore", message="OMP_NUM_THREADS")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ["DISABLE_KUBEFLOW_INTEGRATION"] = "TRUE"  # reports of its own, without steps


def _stay_offline(config: Configuration) -> None:
    """Nothing asks the hub about what lies in a folder."""
    if all(Path(each).expanduser().exists() for each in (config.model, config.dataset)):
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


def description_of(config: Configuration) -> dict[str, Any]:
    """The configuration of the model, which says how large it is."""
    place = Path(config.model).expanduser()
    if not place.exists():
        if place.is_absolute() or config.model.startswith(("./", "../", "~")):
            raise UsageError(f"model: there is no {config.model} where the job runs", field="model")
        from transformers import AutoConfig  # noqa: PLC0415 - slow

        try:
            return dict(AutoConfig.from_pretrained(config.model).to_dict())
        except (OSError, ValueError) as error:
            raise UnreadableError(f"model: {config.model}: {first_line(error)}") from error
    try:
        found = json.loads((place / "config.json").read_text("utf-8"))
        if not isinstance(found, dict):
            raise ValueError("it is no table of settings")
    except (OSError, ValueError, RecursionError) as error:
        raise UnreadableError(
            f"model: {config.model} has no config.json that can be read: {error}",
            field="model",
            hint="name a folder with a model of transformers",
        ) from None
    return found


def found_machine(state: Any) -> Machine:
    """What this process has; `state` is accelerate's PartialState."""
    import torch  # noqa: PLC0415 - slow

    installed = frozenset(name for name in _OPTIONAL if find_spec(name) is not None)
    if not torch.cuda.is_available():
        return Machine(state(cpu=True).num_processes, installed=installed)
    gpu = torch.cuda.get_device_properties(state().local_process_index)
    has_bf16 = torch.cuda.is_bf16_supported()
    if has_bf16 and packed_attention.kernel_for("cuda", torch.bfloat16) is not None:
        installed |= {VARLEN}
    return Machine(state().num_processes, gpu.total_memory, has_bf16, installed)


def _trainer(
    task: Task, config: Configuration, choices: Choices, machine: Machine, output: Path
) -> Any:
    import transformers  # noqa: PLC0415 - slow
    from accelerate import PartialState  # noqa: PLC0415 - as above
    from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer  # noqa: PLC0415 - as above

    transformers.utils.logging.disable_progress_bar()
    transformers.set_seed(config.seed)
    tokenizer = _tokenizer(config)
    with PartialState().local_main_process_first():
        rows = dataset.loaded(config, task, tokenizer)
    folder = output / checkpoints.FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    kind = SFTConfig if task is Task.SFT else DPOConfig
    is_shared = _is_shared(PartialState(), folder)
    asked, load = arguments(task, config, choices, machine), load_model
    if is_read_once(config, choices):
        asked["fsdp_config"]["cpu_ram_efficient_loading"] = True
        load = load_spread_model
    args = kind(output_dir=str(folder), save_on_each_node=not is_shared, **asked)
    given: dict[str, Any] = {
        "model": load(config, choices),
        "args": args,
        "train_dataset": rows,
        "processing_class": tokenizer,
        "peft_config": _adapter(config),
        "callbacks": [callback(machine.processes)],
    }
    if task is Task.DPO and config.method == Method.FULL.value:
        transformers.set_seed(config.seed)
        given["ref_model"] = load_model(config, choices)  # TRL hands out nothing of this one
    trainer = (SFTTrainer if task is Task.SFT else DPOTrainer)(**given)
    trainer.remove_callback(transformers.PrinterCallback)
    return trainer


def _tokenizer(config: Configuration) -> Any:
    from transformers import AutoTokenizer  # noqa: PLC0415 - slow

    try:
        tokenizer = AutoTokenizer.from_pretrained(config.model)
    except (OSError, ValueError) as error:
        raise UnreadableError(
            f"model: {config.model} has no tokenizer that can be read: {first_line(error)}"
        ) from error
    if config.chat_template:
        try:
            tokenizer.chat_template = Path(config.chat_template).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", "it is no text in UTF-8")
            raise UnreadableError(f"chat_template: {config.chat_template}: {reason}") from None
    return tokenizer


def _adapter(config: Configuration) -> Any:
    if config.method == Method.FULL.value:
        return None
    from peft import LoraConfig  # noqa: PLC0415 - slow

    targets: Any = config.lora_targets
    if targets != "all-linear":
        targets = [name.strip() for name in targets.split(",") if name.strip()]
    return LoraConfig(
        task_type="CAUSAL_LM",
        r=config.lora_rank,
        lora_alpha=config.lora_alpha,
        lora_dropout=config.lora_dropout,
        target_modules=targets,
    )


def _is_shared(state: Any, folder: Path) -> bool:
    """Whether all processes see the same folder."""
    if state.num_processes == 1:
        return True
    name = folder / f".shared-{_broadcast(os.getpid())}"
    if state.is_main_process:
        name.touch()
    state.wait_for_everyone()
    is_shared = all(_everybody_says(name.exists()))
    state.wait_for_everyone()
    if state.is_main_process:
        name.unlink(missing_ok=True)
    return is_shared


def _start(trainer: Any, output: Path, processes: int) -> str | None:
    """The checkpoint to go on from."""
    folder = output / checkpoints.FOLDER
    mine = checkpoints.complete_steps(folder, processes)
    step = checkpoints.latest_common(_everybody_says(mine))
    if not trainer.is_world_process_zero():
        return None if step is None else str(checkpoints.path_of(folder, step))
    if step is not None:
        print(f"goes on from step {step}", flush=True)  # noqa: T201 - the job's log
    elif checkpoints.others(folder, processes):
        print(  # noqa: T201 - as above
            f"begins anew: the checkpoints in {folder} are incomplete, or not of {processes}"
            " processes",
            flush=True,
        )
    return None if step is None else str(checkpoints.path_of(folder, step))


def _everybody_says(value: Any) -> list[Any]:
    """What each process says."""
    from accelerate.utils import gather_object  # noqa: PLC0415 - slow

    return list(gather_object([value]))


def _broadcast(value: Any) -> Any:
    """What the first process says."""
    return _everybody_says(value)[0]


def _outcome(trainer: Any, seconds: float) -> Outcome:
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    tokens = [entry["num_tokens"] for entry in trainer.state.log_history if "num_tokens" in entry]
    versions = {}
    for name in NEEDED:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return Outcome(
        trainer.state.global_step,
        float(losses[-1]) if losses else None,
        int(tokens[-1]) if tokens else None,
        seconds,
        versions,
    )


def is_out_of_memory(error: BaseException) -> TrainwayError | None:
    """A sentence for what no estimate foresaw."""
    if type(error).__name__ != "OutOfMemoryError":
        return None
    return UnavailableError(
        f"the memory of the GPU was not enough: {first_line(error)}",
        hint="use micro_batch=1, checkpointing=true, a smaller max_length, or method=qlora",
    )
