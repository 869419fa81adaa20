"""A job that goes on in a cluster, where it has come from elsewhere. Pure.

Its pods begin with a container that waits until their output directory has what the job had written
before (`output_transfer`), and what it was restarted elsewhere counts against what it may be.
"""

import copy
from typing import Final

from trainway.agent.kubelet.variables import RESTART_ATTEMPT
from trainway.backends.kubernetes.files import waiting_like
from trainway.backends.kubernetes.variables import OUTPUT, VOLUME
from trainway.jobset.model import replicated_jobs
from trainway.json_types import Json

INIT: Final = "trainway-arrival"
"""The name of the container that waits for the output."""
MARK: Final = "/opt/trainway/arrival/complete"
"""The file that is there when all of it is."""
_PLACE: Final = "/opt/trainway/arrival"
_PATIENCE_S: Final = 6 * 3600
_ADDED: Final = f'export {RESTART_ATTEMPT}=$$(({RESTART_ATTEMPT} + %d)); exec "$@"'
"""What becomes the command that comes after it; Kubernetes makes one dollar of two."""
_WAIT: Final = f"""\
import os, sys, time
end = time.monotonic() + {_PATIENCE_S}
while not os.path.exists("{MARK}"):
    if time.monotonic() > end:
        sys.exit("the output of this job did not arrive in time")
    time.sleep(0.1)
"""


def awaiting(jobset: Json) -> Json:
    """The JobSet, whose pods wait for what the job has written elsewhere."""
    jobset = copy.deepcopy(jobset)
    for role in replicated_jobs(jobset["spec"]):
        pod = role.pod.spec
        reader = next((each for each in pod["containers"] if has_output(each)), None)
        if reader is None:
            continue
        mounts = [
            {"name": VOLUME, "mountPath": OUTPUT},
            {"name": INIT, "mountPath": _PLACE},
        ]
        waiting = waiting_like(reader, INIT, ["python3", "-c", _WAIT], mounts)
        pod["initContainers"] = [waiting, *(pod.get("initContainers") or ())]
        pod["volumes"] = [*(pod.get("volumes") or ()), {"name": INIT, "emptyDir": {}}]
    return jobset


def has_output(container: Json) -> bool:
    """Whether a container has the output directory that we have given it."""
    mounts = container.get("volumeMounts") or ()
    return any((mount["name"], mount.get("mountPath")) == (VOLUME, OUTPUT) for mount in mounts)


def with_restarts_left(top: Json, status: Json) -> Json:
    """The JobSet, which may be restarted as often as is left by the status of its last place."""
    counted = int(status.get("restartsCountTowardsMax") or 0)
    policy = (top.get("spec") or {}).get("failurePolicy") or {}
    left = restarts_left(policy, counted)
    return top if left is policy else {**top, "spec": {**top["spec"], "failurePolicy": left}}


def restarts_left(policy: Json | None, counted: int) -> Json | None:
    """A failure policy, by which a set may be restarted as often as is left after so many."""
    most = int((policy or {}).get("maxRestarts") or 0)
    if policy is None or not counted or not most:
        return policy
    return {**policy, "maxRestarts": max(0, most - counted)}


def counting_on(obj: Json, restarts: int) -> Json:
    """A JobSet or a Job, whose processes are told of so many restarts more than there were here.

    A pod reads its attempt from a label, and Kubernetes cannot add to that. So a shell does, before
    it becomes the command; a program that its image names, and not the job, counts from 0.
    """
    if not restarts:
        return obj
    obj = copy.deepcopy(obj)
    if obj["kind"] == "JobSet":
        pods = [role.pod.spec for role in replicated_jobs(obj["spec"])]
    else:
        pods = [obj["spec"]["template"]["spec"]] if obj["kind"] == "Job" else []
    for container in (each for pod in pods for each in pod["containers"]):
        if container.get("command") and _reads_attempt(container):
            container["command"] = ["sh", "-c", _ADDED % restarts, "sh", *container["command"]]
    return obj


def _reads_attempt(container: Json) -> bool:
    """Whether it is told its attempt by us."""
    told = [each for each in container.get("env") or () if each["name"] == RESTART_ATTEMPT]
    return any("valueFrom" in each for each in told)
