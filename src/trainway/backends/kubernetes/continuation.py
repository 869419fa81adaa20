"""A job that goes on in a cluster, where it has come from elsewhere. Pure.

Its pods begin with a container that waits until their output directory has what the job had written
before (`output_transfer`), and what it was restarted elsewhere counts against what it may be.
"""

import copy
from typing import Final

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
    most = int(policy.get("maxRestarts") or 0)
    if not counted or not most:
        return top
    left = {**policy, "maxRestarts": max(0, most - counted)}
    return {**top, "spec": {**top["spec"], "failurePolicy": left}}
