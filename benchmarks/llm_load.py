"""One run of benchmarks/llm.py, or what comes before: `llm_load.py ORDER`, which is JSON."""

import json
import os
import runpy
import statistics
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import datasets
import numpy as np
import pyarrow as pa
import torch
from accelerate import PartialState
from peft import LoraConfig
from pyarrow import parquet
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    TrainerCallback,
    set_seed,
)
from trl import SFTConfig, SFTTrainer

from benchmarks.llm_cases import SHAPES, UNCOUNTED, Case
from trainway.llm import __main__, memory, packed_attention, progress, training
from trainway.llm.choices import VARLEN, Choices, arguments, choose
from trainway.llm.configuration import Task, configured

ROOT: Final = Path(__file__).resolve().parents[1]
ASKED: Final = (
    "per_device_train_batch_size", "gradient_accumulation_steps", "max_steps", "packing",
    "max_length", "bf16", "gradient_checkpointing", "optim", "use_cpu", "save_steps",
    "logging_steps",
)  # fmt: skip
"""What plain TRL is told, to do the same."""


def child(order: dict[str, Any]) -> int:
    """What runs in a process of its own."""
    scratch = Path(order["scratch"])
    if order["way"] == "prepare":
        return prepare(scratch, order)
    if order["way"] == "ours":
        return ours(scratch, Case(**{k: order[k] for k in Case.__dataclass_fields__}))
    case = Case(**{k: order[k] for k in Case.__dataclass_fields__})
    return plain(scratch, case, is_default=order["way"] == "default")


def prepare(scratch: Path, order: dict[str, Any]) -> int:
    """A model without weights, and rows of random tokens."""
    model, shape = scratch / order["model"], SHAPES[order["model"]]
    tiny = runpy.run_path(str(ROOT / "examples" / "tiny_llm.py"))
    tiny["make_tokenizer"](model)
    tiny["make_configuration"](model, shape["vocab_size"], shape)
    random = np.random.default_rng(1)
    rows = (order["steps"] + UNCOUNTED) * order["batch"]
    tokens = random.integers(10, shape["vocab_size"], size=(rows, order["length"]))
    data = scratch / f"{order['model']}-data"
    data.mkdir()
    table = pa.table({"input_ids": pa.array(list(tokens.astype("int32")))})
    parquet.write_table(table, data / "train.parquet")
    return 0


def settings_of(scratch: Path, case: Case) -> list[str]:
    """What ours is told; everything else is its default."""
    return [
        f"model={scratch / case.model}",
        f"dataset={scratch / f'{case.model}-data'}",
        "weights=random",
        f"method={case.method}",
        f"max_length={case.length}",
        f"batch_size={case.batch}",
        f"max_steps={case.steps + UNCOUNTED}",
        f"dtype={case.dtype}",
        "save_steps=1000000",
        *case.settings,
    ]


def timed(parent: type) -> Any:
    """A callback that measures steps and ends the process after the last."""

    class Timed(parent):  # type: ignore[misc]
        def on_train_begin(self, args: Any, state: Any, control: Any, **words: Any) -> None:
            self.times: list[float] = []
            super().on_train_begin(args, state, control, **words)

        def on_step_end(self, args: Any, state: Any, control: Any, **words: Any) -> None:
            super().on_step_end(args, state, control, **words)
            if torch.cuda.is_available():
                torch.cuda.synchronize()
            self.times.append(time.perf_counter())
            if state.global_step == state.max_steps:
                self.tell(args, **words)

        def tell(self, args: Any, **words: Any) -> None:
            counted = self.times[UNCOUNTED - 1 :]
            steps = [after - before for before, after in pairwise(counted)]
            found = {
                "step_s": statistics.median(steps),
                "slowest_s": max(steps),
                "memory": torch.cuda.max_memory_allocated() if torch.cuda.is_available() else 0,
                "micro_batch": args.per_device_train_batch_size,
                "checkpointing": bool(args.gradient_checkpointing),
                "packing": bool(args.packing),
                "attention": words["model"].config._attn_implementation,  # noqa: SLF001
                "versions": {"torch": torch.__version__},
            }
            print("measured " + json.dumps(found), flush=True)
            os._exit(0)  # what would follow is writing gigabytes

    return Timed()


def ours(scratch: Path, case: Case) -> int:
    """As `python -m trainway.llm` does it."""
    measured = type(progress.callback(1))
    setattr(training, "callback", lambda _processes: timed(measured))  # noqa: B010 - not its own
    words = ["sft", *settings_of(scratch, case), f"output={scratch / 'out'}"]
    return __main__.main(words)


def plain(scratch: Path, case: Case, *, is_default: bool) -> int:
    """TRL by itself; with the same settings, those that ours would choose are asked for."""
    gpu = torch.cuda.is_available()
    machine = training.found_machine(PartialState)
    folder = scratch / case.model
    config = configured({}, settings_of(scratch, case), "benchmark")
    description = json.loads((folder / "config.json").read_text())
    shape = memory.shape_of(description)
    choices = choose(Task.SFT, config, machine, shape, description["model_type"])
    asked = ASKED
    chosen = arguments(Task.SFT, config, choices, machine)
    if is_default:
        asked = ("max_steps", "max_length", "use_cpu", *(() if gpu else ("bf16",)))
    given = {name: chosen[name] for name in asked}
    set_seed(42)
    with torch.device("cuda" if gpu else "cpu"):
        model = AutoModelForCausalLM.from_config(
            AutoConfig.from_pretrained(folder),
            dtype=torch.float32 if is_default else getattr(torch, choices.dtype),
            **({} if is_default else {"attn_implementation": attention_of(choices)}),
        )
    adapter = LoraConfig(
        task_type="CAUSAL_LM", r=16, lora_alpha=32, lora_dropout=0.0, target_modules="all-linear"
    )
    rows = datasets.load_dataset(
        "parquet", data_files=[str(scratch / f"{case.model}-data" / "train.parquet")], split="train"
    )
    SFTTrainer(
        model=model,
        args=SFTConfig(output_dir=str(scratch / "plain"), report_to="none", **given),
        train_dataset=rows,
        processing_class=AutoTokenizer.from_pretrained(folder),
        peft_config=adapter if case.method == "lora" else None,
        callbacks=[timed(TrainerCallback)],
    ).train()
    return 1


def attention_of(choices: Choices) -> str:
    """The name that transformers has for what ours chose."""
    return packed_attention.register() if choices.attention == VARLEN else choices.attention


if __name__ == "__main__":
    sys.exit(child(json.loads(sys.argv[1])))
