"""PyTorch FSDP2: no process holds the whole model; each keeps its shard of every layer.

    trainway run --nodes 2 --procs-per-node 2 examples/torch_fsdp.py

All processes write their shards to one distributed checkpoint, which a restarted job reads, also
with another number of processes.
"""

import argparse
import os
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from progress import report
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch_processes import join, leave

WIDTH = 64


class Block(nn.Module):
    """A residual layer: what is gathered, used and given up at once."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs + self.layers(inputs)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--output-dir", default=os.environ.get("TRAINWAY_OUTPUT_DIR", "output"))
    return parser.parse_args()


def sharded_model(device: torch.device) -> nn.Module:
    torch.manual_seed(1)
    model = nn.Sequential(*(Block() for _ in range(4)), nn.Linear(WIDTH, 1)).to(device)
    mesh = init_device_mesh(device.type, (dist.get_world_size(),))
    for block in model:
        fully_shard(block, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def local_share(model: nn.Module) -> float:
    parameters = list(model.parameters())
    return sum(p.to_local().numel() for p in parameters) / sum(p.numel() for p in parameters)


def newest_step(checkpoints: Path) -> int:
    """The step of the newest complete checkpoint; its metadata is written last."""
    return max((int(file.parent.name) for file in checkpoints.glob("*/.metadata")), default=0)


def load(checkpoint: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Read this process's shards of the model and of the optimizer's moments, in place."""
    weights, moments = get_state_dict(model, optimizer)
    dcp.load({"model": weights, "optimizer": moments}, checkpoint_id=checkpoint)
    set_state_dict(model, optimizer, model_state_dict=weights, optim_state_dict=moments)


def main() -> None:
    options = arguments()
    checkpoints = Path(options.output_dir) / "checkpoints"
    device = join()
    rank, world = dist.get_rank(), dist.get_world_size()

    model = sharded_model(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    print(f"rank {rank} of {world} holds {local_share(model):.0%} of the model", flush=True)

    done = newest_step(checkpoints)
    if done:
        load(checkpoints / str(done), model, optimizer)

    torch.manual_seed(rank)  # every process sees its own data
    for step in range(done + 1, options.steps + 1):
        inputs = torch.randn(32, WIDTH, device=device)
        loss = nn.functional.mse_loss(model(inputs), inputs[:, :8].sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        mean = mean.item() / world
        if rank == 0 and (step == 1 or step % 10 == 0):
            print(f"step {step}/{options.steps} loss {mean:.4f}", flush=True)
            report(100 * step / options.steps, loss=mean)

    weights, moments = get_state_dict(model, optimizer)
    checkpoint = checkpoints / str(options.steps)
    if done < options.steps:
        dcp.save({"model": weights, "optimizer": moments}, checkpoint_id=checkpoint)
    if rank == 0:
        print(f"checkpoint {checkpoint}", flush=True)
    leave()


if __name__ == "__main__":
    main()
