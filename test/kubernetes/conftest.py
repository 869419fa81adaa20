"""The cluster fixtures, for the tests in this folder."""

from cluster.fixtures import (
    api_cluster,
    gang_scheduler,
    kueue,
    kwok_cluster,
    namespace,
    node_cluster,
    pytest_collection_modifyitems,
    pytest_runtest_call,
    pytest_runtest_makereport,
    pytest_runtest_setup,
)
from example_table import yardstick
from host_programs import builtin_runtimes, host_namespace, host_programs
from mpijob_world import mpijob_cluster, on_stage
from node_operator import node_operator
from queueing import queues
from torch_jobs import torch_runtime
from trainjob_world import trainjob_cluster, world

__all__ = [
    "api_cluster",
    "builtin_runtimes",
    "gang_scheduler",
    "host_namespace",
    "host_programs",
    "kueue",
    "kwok_cluster",
    "mpijob_cluster",
    "namespace",
    "node_cluster",
    "node_operator",
    "on_stage",
    "pytest_collection_modifyitems",
    "pytest_runtest_call",
    "pytest_runtest_makereport",
    "pytest_runtest_setup",
    "queues",
    "torch_runtime",
    "trainjob_cluster",
    "world",
    "yardstick",
]
