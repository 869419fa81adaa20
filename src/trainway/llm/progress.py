"""What a training tells of itself while it runs: its metrics, how far it is and what is left."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from trainway.llm import checkpoints
from trainway.sdk.reporting import report

_LEFT_OUT: Final = ("epoch", "total_flos", "train_runtime")


@dataclass
class Clock:
    """How fast steps go since this process began; those before a restart say nothing."""

    step: int
    at: float

    def remaining(self, step: int, last: int, now: float) -> int | None:
        """Seconds until the last step."""
        done = step - self.step
        if done <= 0 or last < step:
            return None
        return round((now - self.at) / done * (last - step))


def line_of(step: int, last: int, logs: dict[str, Any], remaining: int | None) -> str:
    """A line for the log."""
    shown = {key: logs[key] for key in ("loss", "learning_rate", "grad_norm") if key in logs}
    words = [f"step {step}/{last}", *(f"{key} {float(value):.5g}" for key, value in shown.items())]
    if remaining is not None:
        words.append(f"{remaining} s left")
    return " ".join(words)


def callback(processes: int) -> Any:
    """The callback for TRL's trainers; it also says when a checkpoint is complete."""
    from transformers import TrainerCallback  # noqa: PLC0415 - slow, and only where it trains

    class Progress(TrainerCallback):  # type: ignore[misc] # transformers may be missing
        clock: Clock | None = None

        def on_step_begin(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
            if self.clock is None:
                self.clock = Clock(state.global_step, time.monotonic())

        def on_log(self, _args: Any, state: Any, _control: Any, logs: Any = None, **_: Any) -> None:
            if state.is_world_process_zero and logs and "loss" in logs:
                tell(state.global_step, state.max_steps, state.epoch, logs, self.clock)

        def on_save(self, args: Any, state: Any, _control: Any, **_: Any) -> None:
            _wait_for_all()
            if args.should_save:
                path = checkpoints.path_of(Path(args.output_dir), state.global_step)
                if args.fsdp:
                    checkpoints.stand_in(path)
                checkpoints.mark_complete(path, processes)

    return Progress()


def tell(step: int, last: int, epoch: float | None, logs: Any, clock: Clock | None) -> None:
    """Print and report the metrics of a step."""
    remaining = clock.remaining(step, last, time.monotonic()) if clock else None
    print(line_of(step, last, logs, remaining), flush=True)  # noqa: T201 - the log of the job
    numbers = {key: value for key, value in logs.items() if key not in _LEFT_OUT}
    report(
        step=step,
        epoch=epoch,
        progress=100 * step / max(last, 1),
        remaining_seconds=remaining,
        **numbers,
    )


def _wait_for_all() -> None:
    from torch import distributed  # noqa: PLC0415 - slow, and only where it trains

    if distributed.is_available() and distributed.is_initialized():
        distributed.barrier()
