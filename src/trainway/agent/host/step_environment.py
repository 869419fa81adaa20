"""What a call of srun is told of the allocation that it belongs to. Pure."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_FOR_STEPS = re.compile(
    r"SLURM_(CONF|CLUSTER_NAME|WORKING_CLUSTER|JWT|HET_SIZE|JOBID|NODELIST|ARRAY_\w+"
    r"|(JOB_ID|JOB_NODELIST|JOB_NUM_NODES|JOB_CPUS_PER_NODE|TASKS_PER_NODE)(_HET_GROUP_\d+)?)"
)
"""What srun needs to know of the allocation; all else it is told by its arguments."""


def step_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment for calls of srun: of Slurm only what tells it which allocation it is."""
    return {
        name: value
        for name, value in environ.items()
        if _FOR_STEPS.fullmatch(name)
        or not name.startswith(("SLURM_", "SLURMD_", "SRUN_", "PMI_", "PMIX_"))
    }
