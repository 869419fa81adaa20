"""Data-parallel training over MPI, the way Horovod and DeepSpeed do it.

Rank 0's parameters go to everybody, each rank computes gradients of its own data, and their mean
is what the optimizer sees. Run it with `trainway run examples/mpi-trainjob.yaml`.
"""

import argparse
import os
from pathlib import Path

import torch
from mpi4py import MPI
from progress import report
from torch import nn


class Averaged:
    """An optimizer that averages the gradients of all ranks before each step."""

    def __init__(self, optimizer: torch.optim.Optimizer, world: MPI.Comm) -> None:
        self.optimizer, self.world = optimizer, world
        self.parameters = [p for group in optimizer.param_groups for p in group["params"]]
        for parameter in self.parameters:
            world.Bcast(parameter.detach().numpy(), root=0)

    def step(self) -> None:
        gradients = torch.cat([p.grad.flatten() for p in self.parameters])  # one message, not many
        self.world.Allreduce(MPI.IN_PLACE, gradients.numpy(), op=MPI.SUM)
        gradients /= self.world.size
        sizes = [p.numel() for p in self.parameters]
        for parameter, mean in zip(self.parameters, gradients.split(sizes), strict=True):
            parameter.grad = mean.view_as(parameter)
        self.optimizer.step()
        self.optimizer.zero_grad()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--output-dir", default=os.environ.get("TRAINWAY_OUTPUT_DIR", "output"))
    options = parser.parse_args()
    world = MPI.COMM_WORLD
    torch.set_num_threads(1)
    torch.manual_seed(world.rank)  # other data in every rank, and other parameters until Averaged

    model = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = Averaged(torch.optim.SGD(model.parameters(), lr=0.03), world)
    for step in range(1, options.steps + 1):
        inputs = torch.randn(64, 16)
        loss = nn.functional.mse_loss(model(inputs), inputs[:, :4].sum(1, keepdim=True))
        loss.backward()
        optimizer.step()
        mean = world.allreduce(loss.item()) / world.size
        if world.rank == 0 and (step == 1 or step % 25 == 0):
            print(f"step {step}/{options.steps} loss {mean:.4f} ranks {world.size}", flush=True)
            report(100 * step / options.steps, loss=mean)

    total = sum(p.detach().double().sum().item() for p in model.parameters())
    assert len(set(world.allgather(total))) == 1, "the ranks have drifted apart"
    if world.rank == 0:
        checkpoint = Path(options.output_dir) / "model.pt"
        checkpoint.parent.mkdir(parents=True, exist_ok=True)
        torch.save(model.state_dict(), checkpoint)
        print(f"checkpoint {checkpoint}", flush=True)


if __name__ == "__main__":
    main()
