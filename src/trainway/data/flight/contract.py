"""What all who have to do with a cache must agree on; it needs no pyarrow."""

import re
from typing import Final

HEAD: Final = "head"
WORKER: Final = "worker"
PORT: Final = 50051
HEALTH_PORT: Final = 8080
"""Kubeflow's, and ours in pods."""
LISTENS: Final = "%s listens at %s:%d"
HEAD_LISTENS: Final = re.compile(r"head listens at (\S+):[0-9]+")
"""What a head or worker says in its log: its role, and where others reach it."""
READY: Final = "ready: %d files, %d bytes, %d rows"
NOT_READY: Final = "not ready any more: %s"
"""What a head says in its log when that changes; those who cannot reach it read it there."""
ADDRESS: Final = "TRAINWAY_CACHE_ADDRESS"
"""The variable that tells clients where the head is."""
TOKEN: Final = "TRAINWAY_CACHE_TOKEN"  # noqa: S105 - the name of a variable
"""The variable with the token of a cache that has one."""
