"""The fixtures of this folder."""

from slurm_fixtures import idle_slurm_cluster, slurm_cluster

__all__ = ["idle_slurm_cluster", "slurm_cluster"]
