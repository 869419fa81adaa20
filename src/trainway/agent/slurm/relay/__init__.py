"""On the login node: what a server has done by Slurm, and what it is told about its jobs.

relay           the process, over standard input and output; `operations` is what it can be asked
cluster_queue   one query for all jobs, of squeue or slurmrestd; `accounting` has those that left
submission      hands each job to sbatch once; `job_ends` has it end, or wait, as is wished
followed_job    what a server has not been told of a job yet
staging         stages files for nodes that share none; `staging_lease`: one relay at a time
"""
