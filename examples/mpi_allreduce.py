"""MPI with mpi4py: every rank sums what all ranks have.

Run it with `trainway run examples/mpi.yaml`, or with plain `mpirun -n 4 python mpi_allreduce.py`.
"""

import numpy as np
from mpi4py import MPI

LENGTH = 1_000_000


def main() -> None:
    world = MPI.COMM_WORLD
    mine = np.full(LENGTH, world.rank + 1, dtype="float64")
    everyones = np.empty_like(mine)

    world.Barrier()
    started = MPI.Wtime()
    world.Allreduce(mine, everyones, op=MPI.SUM)
    seconds = world.allreduce(MPI.Wtime() - started, op=MPI.MAX)

    expected = world.size * (world.size + 1) / 2
    assert (everyones == expected).all(), f"rank {world.rank} has {everyones}, not {expected}"
    hosts = world.gather(MPI.Get_processor_name())
    if world.rank == 0:
        for rank, host in enumerate(hosts):
            print(f"rank {rank} of {world.size} on {host}")
        print(
            f"sum {expected:.0f}: {mine.nbytes / 1e6:.0f} MB in {1000 * seconds:.0f} ms", flush=True
        )


if __name__ == "__main__":
    main()
