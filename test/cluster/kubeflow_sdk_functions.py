"""Functions that the kubeflow SDK sends to pods, where each knows nothing but itself."""
# ruff: noqa: PLC0415, T201 (they import and print by themselves)


def train_with_ddp(steps: int) -> None:
    import torch
    from kubeflow.trainer import update_trainjob_status
    from torch import distributed
    from torch.nn.parallel import DistributedDataParallel

    print("here we go", flush=True)
    distributed.init_process_group("gloo")
    rank, size = distributed.get_rank(), distributed.get_world_size()
    torch.manual_seed(7)
    model = DistributedDataParallel(torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    inputs = torch.randn(64, 4)
    for _ in range(steps):
        loss = (model(inputs) - inputs.sum(1, keepdim=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    total = torch.tensor([rank + 1.0])
    distributed.all_reduce(total)
    print(f"rank {rank} of {size} sum {int(total)} learned {bool(loss < 0.1)}", flush=True)
    if rank == 0:
        # A training reports again and again; one of its reports may get lost.
        reports = (update_trainjob_status(50, 7, {"loss": 0.25}) for _ in range(10))
        print(f"report accepted {any(reports)}", flush=True)
    distributed.destroy_process_group()


def sum_with_mpi() -> None:
    import socket
    import time

    from mpi4py import MPI

    world = MPI.COMM_WORLD
    total = world.allreduce(world.Get_rank() + 1)
    print(f"rank {world.Get_rank()} of {world.Get_size()} on {socket.gethostname()} sum {total}")
    time.sleep(15)


def fail(reason: str) -> None:
    raise ValueError(reason)
