"""The fixtures of tests on an API server."""

from cluster.fixtures import api_cluster
from mpijob_world import mpijob_cluster, on_stage
from torch_jobs import torch_runtime
from trainjob_world import trainjob_cluster, world
from upstream_crds import upstream_cluster

__all__ = [
    "api_cluster",
    "mpijob_cluster",
    "on_stage",
    "torch_runtime",
    "trainjob_cluster",
    "upstream_cluster",
    "world",
]
