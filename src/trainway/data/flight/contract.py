"""What all who have to do with a cache must agree on; it needs no pyarrow."""

from typing import Final

HEAD: Final = "head"
WORKER: Final = "worker"
PORT: Final = 50051
HEALTH_PORT: Final = 8080
"""Kubeflow's, and ours in pods."""
ADDRESS: Final = "TRAINWAY_CACHE_ADDRESS"
"""The variable that tells clients where the head is."""
TOKEN: Final = "TRAINWAY_CACHE_TOKEN"  # noqa: S105 - the name of a variable
"""The variable with the token of a cache that has one."""
