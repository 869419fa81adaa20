"""What runs on a Slurm cluster: the relay on the login node, and the driver in an allocation.

relay       sbatch, scancel and scontrol for a server, one squeue for all jobs, and what jobs leave
drive       the supervisor of one job, as its batch script
step_pod    one pod, as a task of a step
"""
