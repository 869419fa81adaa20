"""The fixtures of tests with pods."""

from cluster.fixtures import gang_scheduler, grouping, kueue, node_cluster
from example_table import yardstick
from host_programs import builtin_runtimes, host_namespace, host_programs
from node_home import home, on
from node_operator import node_operator
from queueing import queues

__all__ = [
    "builtin_runtimes",
    "gang_scheduler",
    "grouping",
    "home",
    "host_namespace",
    "host_programs",
    "kueue",
    "node_cluster",
    "node_operator",
    "on",
    "queues",
    "yardstick",
]
