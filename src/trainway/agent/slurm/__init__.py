"""What runs on a Slurm cluster: the relay on the login node, and the driver in an allocation.

relay       on the login node: sbatch, scancel and scontrol for a server, one squeue for all jobs
driver      in an allocation: the supervisor of one job, as its batch script, and its pods as steps
files       the directory of a job, on a file system that nodes share or carried to them
held_node   the host agent of a node that a cluster holds
"""
