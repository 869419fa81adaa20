"""The node agent: runs JobSets as processes, one on the machine it is started on, or many on hosts.

It needs the standard library of Python 3.8 and nothing else, so that it can be copied to a host as
one zip file, and it imports little, so that the first process of a job starts at once. For the same
reason its modules keep `typing` behind `TYPE_CHECKING = False` and use plain classes.

From the bottom:

base            what all stand on: loop, clock, directory, journal, plan
controllers     JobSet and Job: they decide, like the controllers of Kubernetes, and do nothing
kubelet         pods and containers, and what of the machine they touch
transfer        what goes from one machine to another
supervisor      one job, wherever its pods run

and the programs that are made of them:

local           has one job and its pods
host            has the pods of many jobs, on a host that others reach
slurm           has a driver for a job in an allocation of Slurm, and an agent for each of its pods
pool            has the jobs of a pool of hosts
"""
