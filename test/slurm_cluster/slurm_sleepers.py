"""Batch jobs that hang until they are requeued."""

from typing import Final

from slurm_machine import Node

ONCE: Final = (
    'echo "$SLURM_RESTART_COUNT $(hostname)"; [ -n "$SLURM_RESTART_COUNT" ] || exec sleep 1000'
)
"""Hangs the first time, ends when it was requeued."""


def sleeps(node: Node) -> bool:
    """Whether something hangs on a node."""
    return any(each.words[:2] == ("sleep", "1000") for each in node.processes())
