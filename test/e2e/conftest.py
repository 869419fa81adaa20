"""The fixtures of this folder."""

from example_table import yardstick
from slurm_fixtures import idle_slurm_cluster, slurm_cluster, slurm_site
from ssh_fixtures import ssh_hosts, ssh_pool

__all__ = [
    "idle_slurm_cluster",
    "slurm_cluster",
    "slurm_site",
    "ssh_hosts",
    "ssh_pool",
    "yardstick",
]
