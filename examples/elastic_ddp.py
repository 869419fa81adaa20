"""A training that goes on when nodes come and go: `trainway run --nodes 2:4 elastic_ddp.py`.

torchrun starts all processes anew whenever the number of nodes changes. So each node keeps a
checkpoint of its own, and after every start the newest one of all nodes is given to everybody.
The timeout matters: it is how long processes wait for one on a node that was cut off.
"""

import argparse
import os
import time
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

OUTPUT = Path(os.environ.get("TRAINWAY_OUTPUT_DIR", "."))
CHECKPOINT = OUTPUT / f"checkpoint-{os.environ.get('JOB_COMPLETION_INDEX', '0')}.pt"
EVERY = 10


def is_over(step, steps):
    """Whether this process has seen enough; all end when one of them has."""
    return step >= steps


def save(step, model, optimizer):
    """Keep what has been learnt, so that it is there whole or not at all."""
    part = CHECKPOINT.with_suffix(".part")
    torch.save(
        {"step": step, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, part
    )
    part.replace(CHECKPOINT)


def newest_step(model, optimizer):
    """Load what this node has, then take over from whoever is furthest."""
    step = 0
    if CHECKPOINT.exists():
        found = torch.load(CHECKPOINT, weights_only=True)
        model.load_state_dict(found["model"])
        optimizer.load_state_dict(found["optimizer"])
        step = found["step"]
    steps = [torch.zeros(1, dtype=torch.long) for _ in range(dist.get_world_size())]
    dist.all_gather(steps, torch.tensor([step]))
    first = max(range(len(steps)), key=lambda rank: int(steps[rank]))
    states = [optimizer.state_dict()]
    dist.broadcast_object_list(states, first)
    optimizer.load_state_dict(states[0])
    for value in model.state_dict().values():
        dist.broadcast(value, first)
    return int(steps[first])


def main():
    """Learn to add numbers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--pause", type=float, default=0.1, help="seconds for each step")
    parser.add_argument("--timeout", type=float, default=60, help="seconds to wait for others")
    options = parser.parse_args()
    dist.init_process_group("gloo", timeout=timedelta(seconds=options.timeout))
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    step = newest_step(model, optimizer)
    print(f"rank {rank} of {world} begins at step {step}", flush=True)
    ddp = DistributedDataParallel(model)
    while True:
        ended = torch.tensor([int(is_over(step, options.steps))])
        dist.all_reduce(ended, dist.ReduceOp.MAX)
        if ended.item():
            break
        inputs = torch.randn(32, 8)
        loss = nn.functional.mse_loss(ddp(inputs), inputs.sum(dim=1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % EVERY == 0:
            if os.environ.get("LOCAL_RANK", "0") == "0":
                save(step, model, optimizer)
            if rank == 0:
                print(f"step {step} nodes {world} loss {loss.item():.4f}", flush=True)
        time.sleep(options.pause)
    if rank == 0:
        print(f"done after {step} steps with {world} nodes", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
