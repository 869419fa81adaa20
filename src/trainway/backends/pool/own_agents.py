"""Pool agents that are there for one cluster or one worker pool alone, whose hosts are rented.

Their folders go when what they are for is gone; an agent that still runs notices, and ends.
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

_PREFIX: Final = "cloud+"
"""What the names of such pools begin with; those of others cannot."""
POOLS: Final = "pools"
"""The folder of all pool agents, below the home directory."""


def pool_of(name: str) -> str:
    """The pool of a cluster, or of all workers of a worker pool."""
    return f"{_PREFIX}{name}"


def remove(home: Path, name: str) -> None:
    """Remove what the agent of a cluster or worker pool has left, if it had one."""
    shutil.rmtree(home / POOLS / pool_of(name), ignore_errors=True)


def tidy(home: Path, is_wanted: Callable[[str], bool]) -> None:
    """Remove the folders of all that are not there any more: a server may be killed before it."""
    for path in (home / POOLS).glob(f"{_PREFIX}*"):
        name = path.name.removeprefix(_PREFIX)
        if not is_wanted(name):
            remove(home, name)
