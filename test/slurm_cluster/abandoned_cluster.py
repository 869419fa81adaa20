"""Makes a cluster with a job and says where; whoever started this kills it then."""

import signal
import sys

from slurm_cluster import SlurmCluster

cluster = SlurmCluster(1, namespaces=True, memory_limits=True)
cluster.wait_for_state(cluster.submit("exec sleep 1000"), "RUNNING")
sys.stdout.write(f"{cluster.name} {cluster.folder} {cluster.interface}\n")
sys.stdout.flush()
signal.pause()
