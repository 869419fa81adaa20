"""`trainway.llm` with weights spread over processes without GPUs: what several GPUs would do.

Accelerate spreads weights over GPUs only, and no machine of ours has several. Here it takes its
processes for such, so that FSDP2 itself, its checkpoints and what is saved are those of GPUs; only
the kernels are not. With STOP_AFTER the first process ends at that step as if it were killed. A
process that reads the weights from the disk says so.
"""

import os
import signal
import sys
from typing import Any

from accelerate import PartialState
from accelerate.utils import DistributedType

from trainway.llm import __main__ as program
from trainway.llm import choices, loading, progress, training


def main(words: list[str]) -> int:
    """Train."""
    is_made, told, stop = PartialState.__init__, progress.tell, os.environ.get("STOP_AFTER")
    load = loading.load_model

    def made(self: Any, *values: Any, **named: Any) -> None:
        is_made(self, *values, **named)
        if self._shared_state.get("distributed_type") == DistributedType.MULTI_CPU:
            self._shared_state["distributed_type"] = DistributedType.MULTI_GPU

    def tell(step: int, last: int, *values: Any) -> None:
        told(step, last, *values)
        if str(step) == stop:
            os.kill(os.getpid(), signal.SIGKILL)

    def loaded(*values: Any) -> Any:
        print(f"process {os.environ['RANK']} reads the weights", flush=True)  # noqa: T201
        return load(*values)

    PartialState.__init__ = made
    vars(loading)["load_model"] = vars(training)["load_model"] = loaded
    progress.tell = tell  # type: ignore[assignment] # it hands on what it is given
    choices._parallel = lambda *_: "fsdp"
    return program.main(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
