"""The training of `benchmarks/moving.py`: torch DDP that keeps a checkpoint after every epoch.

An epoch counts when its checkpoint is whole. With each goes the sum of the weights, by which the
next process shows that it goes on from the same ones.
"""

import os
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist
from progress import report
from torch import nn
from torch.nn.parallel import DistributedDataParallel

OUTPUT = Path(os.environ["TRAINWAY_OUTPUT_DIR"])
CHECKPOINT = OUTPUT / "checkpoint.pt"
STEPS = 5
PAUSE_S = 0.02


def weight(model: nn.Module) -> float:
    """What tells two models apart."""
    return sum(float(value.double().sum()) for value in model.parameters())


def begun(model: nn.Module, optimizer: torch.optim.Optimizer) -> int:
    """How many epochs were done, wherever that was; all processes must have found the same."""
    epoch = 0
    if CHECKPOINT.exists():
        found = torch.load(CHECKPOINT, weights_only=True)
        model.load_state_dict(found["model"])
        optimizer.load_state_dict(found["optimizer"])
        epoch = int(found["epoch"])
    newest = torch.tensor([epoch, -epoch])
    dist.all_reduce(newest, dist.ReduceOp.MAX)
    if int(newest[0]) != -int(newest[1]):
        sys.exit(f"the checkpoints differ: this one has {epoch} epochs, another {int(newest[0])}")
    return epoch


def save(epoch: int, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Keep what has been learnt, so that it is there whole or not at all."""
    part = CHECKPOINT.with_suffix(".part")
    state = {"epoch": epoch, "model": model.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(state, part)
    part.replace(CHECKPOINT)


def main() -> None:
    """Learn to add numbers until somebody says that it is enough."""
    enough = Path(sys.argv[1])
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(rank)
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    ddp = DistributedDataParallel(model)
    epoch = begun(model, optimizer)
    if rank == 0:
        print(f"begins at {epoch} weight {weight(model):.9f} ranks {world}", flush=True)
    while True:
        ended = torch.tensor([int(enough.exists())])
        dist.all_reduce(ended, dist.ReduceOp.MAX)
        if ended.item():
            break
        for _ in range(STEPS):
            inputs = torch.randn(32, 8)
            loss = nn.functional.mse_loss(ddp(inputs), inputs.sum(dim=1, keepdim=True))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            time.sleep(PAUSE_S)
        epoch += 1
        if rank == 0:
            save(epoch, model, optimizer)
            print(f"epoch {epoch} weight {weight(model):.9f} loss {loss.item():.4f}", flush=True)
            report(0, done=epoch)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
