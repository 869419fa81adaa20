"""PyTorch DDP: a small network learns to tell ten kinds of noisy 28x28 pictures apart.

Run it with `trainway run examples/torch-ddp.yaml`, or with plain torchrun. Rank 0 writes a
checkpoint after every epoch; a job that is restarted goes on from there. Search good values with

  trainway tune examples/torch_ddp.py --procs-per-node 1 --validation-samples 512 \\
    --param lr=log:1e-4:1e-1 --param batch-size=16,64 --objective val_loss --prune median

Everything random has a fixed seed: the same arguments give the same losses.
"""

import argparse
import os
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
from torch_processes import join, leave

try:
    import trainway
except ImportError:  # it is not installed where the job runs
    trainway = None
    import progress

CLASSES, SIDE = 10, 28


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--samples", type=int, default=4096)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.003)
    parser.add_argument("--weight-decay", type=float, default=0.0)
    parser.add_argument("--noise", type=float, default=4.0, help="how unclear the pictures are")
    parser.add_argument(
        "--validation-samples",
        type=int,
        default=0,
        metavar="N",
        help="report val_loss too, the loss on N pictures that nobody learns from",
    )
    parser.add_argument("--output-dir", default=os.environ.get("TRAINWAY_OUTPUT_DIR", "output"))
    parser.add_argument(
        "--crash-at-epoch",
        type=int,
        metavar="N",
        help="die after epoch N, unless this run has resumed from a checkpoint",
    )
    return parser.parse_args()


def pictures(samples: int, noisiness: float) -> TensorDataset:
    """The same pictures in every process: one pattern for each class, under a lot of noise."""
    random = torch.Generator().manual_seed(7)
    patterns = torch.randn(CLASSES, 1, SIDE, SIDE, generator=random)
    labels = torch.randint(CLASSES, (samples,), generator=random)
    noise = torch.randn(samples, 1, SIDE, SIDE, generator=random)
    return TensorDataset(patterns[labels] + noisiness * noise, labels)


def network() -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(
        nn.Flatten(), nn.Linear(SIDE * SIDE, 64), nn.ReLU(), nn.Linear(64, CLASSES)
    )


def save(checkpoint: Path, state: dict[str, object]) -> None:
    """Replace the file as a whole, so that a crash never leaves half of one."""
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    partial = checkpoint.with_suffix(".partial")
    torch.save(state, partial)
    partial.replace(checkpoint)


def load(checkpoint: Path, device: torch.device) -> dict[str, object] | None:
    """What rank 0 finds is what all use: the nodes may not share a disk."""
    found = [None]
    if dist.get_rank() == 0 and checkpoint.exists():
        found = [torch.load(checkpoint, map_location=device)]
    dist.broadcast_object_list(found, src=0, device=device)
    return found[0]


def train_epoch(model, optimizer, loader, device) -> float:
    """One pass over this process's share; returns the mean loss over all processes."""
    total = torch.zeros(2, device=device)
    for inputs, labels in loader:
        loss = nn.functional.cross_entropy(model(inputs.to(device)), labels.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += torch.tensor([loss.item(), 1.0], device=device)
    dist.all_reduce(total)
    return (total[0] / total[1]).item()


@torch.no_grad()
def validation_loss(model, data, device) -> float:
    """The loss on pictures that nobody has learned from."""
    inputs, labels = data
    return nn.functional.cross_entropy(model(inputs.to(device)), labels.to(device)).item()


def tell(epoch: int, epochs: int, remaining: float, losses: dict[str, float]) -> None:
    """Report how far the training is, and its losses."""
    if trainway is not None:
        trainway.report(step=epoch, epoch=epoch, progress=100 * epoch / epochs, **losses)
    else:
        progress.report(100 * epoch / epochs, remaining, step=epoch, epoch=epoch, **losses)


def main() -> None:
    options = arguments()
    checkpoint = Path(options.output_dir) / "checkpoint.pt"
    device = join()
    rank, world = dist.get_rank(), dist.get_world_size()

    model = DistributedDataParallel(network().to(device))
    optimizer = torch.optim.SGD(
        model.parameters(), options.lr, momentum=0.9, weight_decay=options.weight_decay
    )
    first_epoch = 1
    resumed = load(checkpoint, device)
    if resumed is not None:
        model.module.load_state_dict(resumed["model"])
        optimizer.load_state_dict(resumed["optimizer"])
        first_epoch = resumed["epoch"] + 1
        if rank == 0:
            print(f"resuming after epoch {resumed['epoch']}", flush=True)

    held_out = options.validation_samples
    seen = pictures(options.samples + held_out, options.noise)
    validation, data = seen[:held_out], TensorDataset(*seen[held_out:])
    sampler = DistributedSampler(data, seed=3)
    loader = DataLoader(data, options.batch_size, sampler=sampler)
    started = time.monotonic()
    for epoch in range(first_epoch, options.epochs + 1):
        sampler.set_epoch(epoch)
        loss = train_epoch(model, optimizer, loader, device)
        if rank == 0:
            losses = {"loss": loss}
            if held_out:
                losses["val_loss"] = validation_loss(model.module, validation, device)
            told = " ".join(f"{name} {value:.4f}" for name, value in losses.items())
            print(f"epoch {epoch}/{options.epochs} {told} processes {world}", flush=True)
            state = {"model": model.module.state_dict(), "optimizer": optimizer.state_dict()}
            save(checkpoint, {**state, "epoch": epoch, "loss": loss})
            per_epoch = (time.monotonic() - started) / (epoch - first_epoch + 1)
            tell(epoch, options.epochs, per_epoch * (options.epochs - epoch), losses)
        dist.barrier()  # nobody goes on, or dies, before the checkpoint is written
        if epoch == options.crash_at_epoch and resumed is None and rank == world - 1:
            print(f"crashing after epoch {epoch}, as asked", flush=True)
            os._exit(3)
    if rank == 0:
        print(f"checkpoint {checkpoint}", flush=True)
    leave()


if __name__ == "__main__":
    main()
