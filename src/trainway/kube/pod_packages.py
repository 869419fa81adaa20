"""The packages of a job that runs in images: an init container installs them in each pod. Pure.

An image has its own Python, so no environment of a host fits it. What the init container installs
is in a volume of the pod, and `PYTHONPATH` leads the other containers there; programs of the image
find it too, such as its torchrun. The ranks of an MPI job come by SSH, whose sessions have none of
the container's variables; so the sshd of its workers is told to set that one.
"""

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from trainway.compiler.mpi import runs_ssh_server
from trainway.compiler.restarts import INITIALIZERS
from trainway.jobset.labels import ENVIRONMENT
from trainway.jobset.literal_text import literal
from trainway.jobset.model import Container, replicated_jobs
from trainway.json_types import Json

VOLUME: Final = "trainway-packages"
PATH: Final = "/trainway-packages"
_ALIKE: Final = ("image", "imagePullPolicy", "env", "envFrom", "resources", "securityContext")
"""What the init container has as the first of the others: where packages come from may be in it."""
_SHELL: Final = 'exec "$(command -v python || command -v python3)" -c "$0" "$@"'


def in_pods(jobset: Mapping[str, Any], lines: Sequence[str]) -> Json:
    """The JobSet whose pods install these packages first; those of initializers do not."""
    changed = copy.deepcopy(dict(jobset))
    for role in replicated_jobs(changed["spec"]):
        if role.name in INITIALIZERS or not role.pod.containers:
            continue
        role.pod.set_volume({"name": VOLUME, "emptyDir": {}})
        first = role.pod.containers[0]
        for container in (*role.pod.containers, *role.pod.init_containers):
            container.set_mount(VOLUME, PATH)
            container.set_env(_python_path(container))
            if runs_ssh_server(container):
                _tell_sessions(container)
        before = role.pod.spec.get("initContainers") or []
        role.pod.spec["initContainers"] = [_installer(first, lines), *before]
    return changed


def _python_path(container: Container) -> Json:
    own = [entry.get("value") for entry in container.env if entry.get("name") == "PYTHONPATH"]
    return {"name": "PYTHONPATH", "value": ":".join([PATH, *(text for text in own if text)])}


def _tell_sessions(server: Container) -> None:
    """Have who logs in find the packages; OpenSSH can do that since 7.8."""
    words = server.data["args" if server.data.get("args") else "command"]
    words.append(f"-oSetEnv=PYTHONPATH={PATH}")


def _installer(first: Container, lines: Sequence[str]) -> Json:
    program = Path(__file__).with_name("pod_packages_program.py").read_text("utf-8")
    words = ["sh", "-c", _SHELL, program, PATH, "\n".join(lines)]
    return {
        "name": ENVIRONMENT,
        **{name: copy.deepcopy(first.data[name]) for name in _ALIKE if name in first.data},
        "command": [literal(word) for word in words],
        "volumeMounts": [{"name": VOLUME, "mountPath": PATH}],
    }
