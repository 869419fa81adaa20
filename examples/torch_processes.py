"""How the processes of a torch job find each other, and part: the same in every example."""

import os
import time

import torch
import torch.distributed as dist


def join() -> torch.device:
    """Become one of the job's processes; returns the device that this one computes on."""
    if not torch.cuda.is_available():
        dist.init_process_group("gloo")
        return torch.device("cpu")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    return device


def leave() -> None:
    """End, the first node last: its torchrun answers the others when they say that they end."""
    dist.destroy_process_group()
    if os.environ.get("GROUP_RANK") == "0":
        time.sleep(0.5)
