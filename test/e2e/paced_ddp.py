"""examples/torch_ddp.py, whose last rank waits in one epoch: `paced_ddp.py SOCKET EPOCH ...`.

The others wait for it in the middle of training, as they do for a slow node. Only the first attempt
of a job waits.
"""

import os
import sys
from importlib import import_module
from typing import Any

from visitor import main as visit

SOCKET, EPOCH = sys.argv.pop(1), int(sys.argv.pop(1))
ATTEMPT = os.environ["TRAINWAY_RESTART_ATTEMPT"]

torch_ddp: Any = import_module("torch_ddp")  # of examples/, where torch is
train_epoch = torch_ddp.train_epoch


def paced_epoch(model: Any, optimizer: Any, loader: Any, device: Any) -> Any:
    """An epoch, or a wait and an epoch."""
    rank, world = torch_ddp.dist.get_rank(), torch_ddp.dist.get_world_size()
    if (loader.sampler.epoch, rank, ATTEMPT) == (EPOCH, world - 1, "0"):
        visit(SOCKET, "last rank")
    return train_epoch(model, optimizer, loader, device)


torch_ddp.train_epoch = paced_epoch
torch_ddp.main()
