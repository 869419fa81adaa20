"""The container that keeps a pod's output within reach while the pod ends. Pure.

A pod takes its output directory along when it goes. So before a job leaves its cluster each of its
pods is given an ephemeral container that has the same volume, and that does not end with the others
but when it is told to, or when the grace period of the pod is over.
"""

from collections.abc import Iterator
from typing import Final

from trainway.agent.transfer.output_stream import MARK
from trainway.backends.kubernetes.continuation import has_output
from trainway.backends.kubernetes.pods import is_over, is_ready, place_of
from trainway.backends.kubernetes.variables import OUTPUT
from trainway.json_types import Json

_NAME: Final = "trainway-keeper"
_LIKE: Final = ("image", "imagePullPolicy", "securityContext")
_VARIABLES: Final = ("PATH", "LD_LIBRARY_PATH")
"""What a program may need to start."""
_PATIENCE_S: Final = 3600
_KEEP: Final = f"""\
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
end = time.monotonic() + {_PATIENCE_S}
while not os.path.exists("{OUTPUT}/{MARK}") and time.monotonic() < end:
    time.sleep(0.1)
"""


def keeper_for(pod: Json) -> Json | None:
    """The container that a pod needs; None: it has no output directory of ours."""
    main = next((each for each in pod["spec"]["containers"] if has_output(each)), None)
    if main is None:
        return None
    number = len((pod["spec"]).get("ephemeralContainers") or ())
    keeper: Json = {"name": f"{_NAME}-{number}", "command": ["python3", "-I", "-c", _KEEP]}
    keeper |= {name: main[name] for name in _LIKE if name in main}
    mounts = main.get("volumeMounts") or ()
    plain = [mount for mount in mounts if not mount.keys() & {"subPath", "subPathExpr"}]
    keeper["volumeMounts"] = plain
    env = [each for each in main.get("env") or () if each["name"] in _VARIABLES and "value" in each]
    return keeper | ({"env": env} if env else {})


def needs_keeper(pod: Json) -> bool:
    """Whether a pod runs, and nobody keeps its output."""
    is_staying = "deletionTimestamp" not in pod["metadata"]
    is_running = is_staying and not is_over(pod) and is_ready(pod)
    return is_running and place_of(pod) is not None and running_keeper(pod) is None


def running_keeper(pod: Json) -> str | None:
    """The name of the container that keeps the output of a pod; None: there is none."""
    return next((str(each["name"]) for each, state in _keepers(pod) if "running" in state), None)


def failed_keeper(pod: Json) -> str:
    """Why the newest keeper of a pod does not start; empty: nothing is known against it."""
    problem = ""
    for _, state in _keepers(pod):
        told = state.get("terminated") or state.get("waiting") or {}
        reason = str(told.get("reason") or "")
        is_starting = "waiting" in state and reason in ("", "ContainerCreating", "PodInitializing")
        problem = "" if "running" in state or is_starting else str(told.get("message") or reason)
    return problem


def _keepers(pod: Json) -> Iterator[tuple[Json, Json]]:
    """The keepers of a pod with their states, the newest last."""
    for each in (pod.get("status") or {}).get("ephemeralContainerStatuses") or ():
        if str(each.get("name")).startswith(_NAME):
            yield each, each.get("state") or {}
