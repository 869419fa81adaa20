"""Trains a tiny language model, made on the spot, with transformers' Trainer: the job of a test.

Nothing here says where progress goes: transformers finds that out from its environment.
"""

import tempfile
import time
from pathlib import Path
from typing import Any, Final

import torch
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

STEPS: Final = 8
PAUSE_AT: Final = 5
REPORT_S: Final = 5.2  # reports in between are at least five seconds apart
SEEN: Final = Path("/tmp/seen")  # noqa: S108 (in a pod)
OPEN: Final = Path("/tmp/open")  # noqa: S108 (in a pod)


class Sentences(torch.utils.data.Dataset):  # type: ignore[misc] # torch is not installed where types are checked
    """The same few tokens again and again."""

    def __len__(self) -> int:
        return 2 * STEPS

    def __getitem__(self, index: int) -> dict[str, Any]:
        tokens = torch.arange(16) + index % 4
        return {"input_ids": tokens, "labels": tokens}


class Pauses(TrainerCallback):  # type: ignore[misc] # transformers is not installed where types are checked
    """Gives the reports time, and a test a look at the first of them and at another one."""

    def on_step_begin(self, _args: Any, _state: Any, _control: Any, **_: Any) -> None:
        while not SEEN.exists():
            time.sleep(0.1)

    def on_step_end(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
        if state.global_step == PAUSE_AT - 1:
            time.sleep(REPORT_S)
        while state.global_step == PAUSE_AT and not OPEN.exists():
            time.sleep(0.1)


def main() -> None:
    config = GPT2Config(vocab_size=32, n_positions=16, n_embd=16, n_layer=1, n_head=2)
    arguments = TrainingArguments(
        output_dir=tempfile.mkdtemp(),
        max_steps=STEPS,
        per_device_train_batch_size=2,
        logging_steps=1,
        save_strategy="no",
        use_cpu=True,
        disable_tqdm=True,
        report_to=[],
    )
    trainer = Trainer(
        model=GPT2LMHeadModel(config),
        args=arguments,
        train_dataset=Sentences(),
        callbacks=[Pauses()],
    )
    trainer.train()
    trainer.accelerator.end_training()  # a process that just exits may abort in its gloo threads


if __name__ == "__main__":
    main()
