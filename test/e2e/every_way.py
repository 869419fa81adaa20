"""An example that reports to the endpoint of its job, and here in all other ways as well.

    every_way.py EXAMPLE [ARGUMENT...]

So a single training with a real framework shows each of them, with a series of its own: `reported`
by `trainway.report`, and `written` to a TensorBoard file, or what the Trainer of transformers calls
it there. `posted` comes by the endpoint. What the example prints is up to `--metrics-from-logs`.
"""

import atexit
import os
import runpy
import sys
from functools import cache
from pathlib import Path
from typing import Any

import trainway


@cache
def writer() -> Any:
    """The writer of torch where that is used, else the one of TensorBoard itself."""
    folder = os.environ["TRAINWAY_OUTPUT_DIR"]
    if "torch" in sys.modules:
        from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415 - only where it is installed

        made = SummaryWriter(folder)
    else:
        from tensorboard.summary import Writer  # noqa: PLC0415 - only where it is installed

        made = Writer(folder)
    atexit.register(made.close)
    return made


def report_by_function() -> None:
    """Replace the function by which examples report."""
    import progress  # noqa: PLC0415 - of the example

    to_endpoint = progress.report
    losses: list[float] = []

    def report(
        percent: float, remaining: float | None = None, *, loss: float, **more: float
    ) -> bool:
        losses.append(loss)
        trainway.report(step=len(losses), progress=percent, loss=loss, reported=loss)
        writer().add_scalar("written", loss, len(losses))
        return bool(to_endpoint(percent, remaining, loss=loss, posted=loss, **more))

    progress.report = report


def report_by_callback() -> None:
    """Give the Trainer of transformers one more callback; it has one for the endpoint itself."""
    from transformers import TrainerCallback, trainer  # noqa: PLC0415 - as above

    class Reports(TrainerCallback):  # type: ignore[misc] # transformers is not installed here
        def on_log(self, _args: Any, state: Any, _control: Any, logs: Any = None, **_: Any) -> None:
            if "loss" in logs:
                percent = 100 * state.global_step / state.max_steps
                loss = float(logs["loss"])
                trainway.report(step=state.global_step, progress=percent, loss=loss, reported=loss)

    trainer.DEFAULT_CALLBACKS.append(Reports)


if __name__ == "__main__":
    del sys.argv[0]
    example = Path(sys.argv[0])
    sys.path[0] = str(example.parent)
    uses_trainer = "from transformers import" in example.read_text()
    (report_by_callback if uses_trainer else report_by_function)()
    runpy.run_path(str(example), run_name="__main__")
