"""The fixtures of tests on nodes that only pretend."""

from cluster.fixtures import kwok_cluster

__all__ = ["kwok_cluster"]
