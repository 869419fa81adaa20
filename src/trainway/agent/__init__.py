"""The node agent: runs JobSets as processes, one on the machine it is started on, or many on hosts.

It needs the standard library of Python 3.8 and nothing else, so that it can be copied to a host as
one zip file, and it imports little, so that the first process of a job starts at once. For the same
reason its modules keep `typing` behind `TYPE_CHECKING = False` and use plain classes.

From the bottom: `indexes`, `quantity`, `conditions` are values; `job_controller` and
`jobset_controller` decide, like the controllers of Kubernetes, and do nothing themselves; `pod` and
`container` are the kubelet; `processes`, `mounts`, `volumes` and `log_writer` touch the machine;
`supervisor` is one job, wherever its pods run; `journal` is what remains. All processes are made
of these: `local_agent` has one job and its pods; in a pool of hosts, `pool` has the jobs and `host`
has the pods; in an allocation of Slurm, `slurm` has a driver for the job and an agent for each pod.
"""
