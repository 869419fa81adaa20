"""Start the agent of a job: `python -m trainway.agent [OPTIONS] JOBDIR`.

`pool ...` and `host ...` start the agents of many jobs instead: that of a pool of hosts, and that
of one host in it. `slurm ...` are the programs that run on a Slurm cluster, `environment ...` makes
the Python environments of a host, and `compile FILE` a copy of the agent with bytecode. Each is
imported when it is asked for: an MPI job starts one of them for every rank, and waits for it.
"""

from __future__ import annotations

import sys

if not __package__:
    # Run as `python -I -S .../trainway/agent`, which starts faster than `-m`.
    sys.path[0] = __file__.rsplit("/", 3)[0]

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

OF_A_JOB = "trainway.agent.local.main"
OTHERS = {
    "pool": "trainway.agent.pool.main",
    "host": "trainway.agent.host.entry",
    "slurm": "trainway.agent.slurm.entry",
    "environment": "trainway.agent.environment.entry",
    "compile": "trainway.agent.base.launch",
}


def main(arguments: Sequence[str]) -> int:
    """Start an agent; the exit status."""
    if arguments and arguments[0] in OTHERS:
        status: int = import_module(OTHERS[arguments[0]]).main(arguments[1:])
        return status
    started: int = import_module(OF_A_JOB).main(arguments)
    return started


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
