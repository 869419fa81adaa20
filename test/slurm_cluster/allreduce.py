"""The sum of the ranks, by each of them."""

import sys

from mpi4py import MPI

ranks = MPI.COMM_WORLD
total = ranks.allreduce(ranks.rank)
sys.stdout.write(f"{MPI.Get_processor_name()} {ranks.rank} {ranks.size} {total}\n")
