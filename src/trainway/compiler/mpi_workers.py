"""A worker that serves SSH for its launcher, and is deleted before the launcher is done.

The workers of an MPI job are the pods of an Indexed Job, which replaces a pod that failed and
counts the index of one that succeeded as done. sshd ends with 0 on SIGTERM, so a worker that is
deleted, drained, preempted or suspended would count as done and never come back. On SIGQUIT sshd
ends with 255. So a worker gets that signal first, by a hook of its container, and its pod has
failed.

Neither upstream project needs the hook, since their workers are bare pods or never replaced. It is
therefore no part of what a job is compiled to, and added where objects are sent to a cluster.
"""

import copy
from typing import Any, Final

from trainway.compiler import mpijob
from trainway.compiler.plugins.mpi import SSH_VOLUME
from trainway.compiler.workload import LAUNCHER
from trainway.jobset.model import Container, ReplicatedJob, replicated_jobs
from trainway.json_types import Json

_ENDING: Final = "for attempt in 1 2 3; do kill -QUIT 1; sleep 1; done"
"""The first process of a container obeys no signal that it does not handle: most ignore this, and
so does an sshd that has only just started, which therefore gets it again. One that obeys ends at
once, and its container with it."""
FAIL_WHEN_STOPPED: Final[Json] = {"exec": {"command": ["sh", "-c", _ENDING]}}

_KEY_VOLUMES: Final = (SSH_VOLUME, mpijob.SSH_VOLUME)
_FIRST_PROCESS_IS_ANOTHERS: Final = ("hostPID", "shareProcessNamespace")


def replaceable(jobset: Json) -> Json:
    """The JobSet of an MPI job whose workers come back when somebody stops them."""
    made = copy.deepcopy(jobset)
    for role in replicated_jobs(made["spec"]):
        if any(role.pod.spec.get(field) for field in _FIRST_PROCESS_IS_ANOTHERS):
            continue
        for container in role.pod.containers:
            if _is_worker(role, container):
                lifecycle: dict[str, Any] = container.data.setdefault("lifecycle", {})
                lifecycle.setdefault("preStop", copy.deepcopy(FAIL_WHEN_STOPPED))
    return made


def _is_worker(role: ReplicatedJob, container: Container) -> bool:
    has_keys = any(container.mounts(volume) for volume in _KEY_VOLUMES)
    return has_keys and role.name != LAUNCHER
