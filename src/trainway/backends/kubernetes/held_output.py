"""Pods that stay until the server has what they wrote. Pure.

A pod takes its output directory along when it goes. Where a job wants its output in a bucket, each
of its pods has one more container, which does nothing but hold the pod when all others have ended:
until the server has brought the output and says so (`harvest`). A pod that is deleted is not held.
"""

import copy
from typing import Final

from trainway.agent.transfer.output_stream import MARK
from trainway.backends.kubernetes.continuation import has_output
from trainway.backends.kubernetes.files import waiting_like
from trainway.backends.kubernetes.pods import HOLDER
from trainway.backends.kubernetes.variables import OUTPUT, VOLUME
from trainway.compiler.restarts import INITIALIZERS
from trainway.jobset.labels import CHECKPOINT, EXPORT
from trainway.jobset.model import replicated_jobs
from trainway.json_types import Json

_SMALL: Final = {"cpu": "50m", "memory": "128Mi"}
"""What it may take, where the container beside it says what that may take."""
_HOLD: Final = f"""\
import os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
while not os.path.exists("{OUTPUT}/{MARK}"):
    time.sleep(0.2)
"""


def wants_output(job: Json) -> bool:
    """Whether a job wants what it writes in a bucket."""
    annotations = (job.get("metadata") or {}).get("annotations") or {}
    return any(annotations.get(name) for name in (EXPORT, CHECKPOINT))


def holding(jobset: Json) -> Json:
    """The JobSet, whose pods stay until their output was brought."""
    jobset = copy.deepcopy(jobset)
    for role in replicated_jobs(jobset["spec"]):
        pod = role.pod.spec
        writer = next((each for each in pod["containers"] if has_output(each)), None)
        if writer is None or role.name in INITIALIZERS:
            continue
        mounts = [{"name": VOLUME, "mountPath": OUTPUT}]
        holder = waiting_like(writer, HOLDER, ["python3", "-I", "-c", _HOLD], mounts)
        for amounts in (holder.get("resources") or {}).values():
            amounts.update({name: _SMALL[name] for name in amounts})
        pod["containers"] = [*pod["containers"], holder]
    return jobset


def is_held(pod: Json) -> bool:
    """Whether the output of a pod can be brought."""
    if "deletionTimestamp" in pod["metadata"]:
        return False
    return any("running" in state for name, state in _states(pod) if name == HOLDER)


def is_waiting(pod: Json) -> bool:
    """Whether all of a pod but what holds it has ended, and will not be started again."""
    if not is_held(pod):
        return False
    others = [state for name, state in _states(pod) if name != HOLDER]
    is_repeated = (pod.get("spec") or {}).get("restartPolicy") not in (None, "Never")
    ended = [state["terminated"] for state in others if "terminated" in state]
    is_over = len(ended) == len(others) and bool(others)
    return is_over and not (is_repeated and any(each.get("exitCode") for each in ended))


def _states(pod: Json) -> list[tuple[str, Json]]:
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    return [(str(each.get("name")), each.get("state") or {}) for each in statuses]
