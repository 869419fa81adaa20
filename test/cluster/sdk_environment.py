"""The kubeflow SDK as it is on PyPI, in an environment and a process of its own.

It runs as a user who may change things in some namespaces and nothing else, as on any shared
cluster.
"""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from cluster.access import Access
from environments import KUBEFLOW_SDK, environment

from trainway.json_types import Json

USER: Final = "sdk"
ROLE: Final = "edit"
LIMIT_S: Final = 1200.0


def user_kubeconfig(cluster: Access, folder: Path, namespaces: Sequence[str]) -> Path:
    """The kubeconfig of a service account that has a role in these namespaces; first its own."""
    home = namespaces[0]
    account = {"apiVersion": "v1", "kind": "ServiceAccount"}
    cluster.apply({**account, "metadata": {"name": USER, "namespace": home}})
    cluster.apply(*(binding(home, namespace) for namespace in namespaces))
    token = cluster.kubectl("create", "token", USER, "-n", home).stdout.strip()
    config = json.loads(cluster.kubectl("config", "view", "--raw", "-o", "json").stdout)
    config["users"] = [{"name": USER, "user": {"token": token}}]
    for context in config["contexts"]:
        context["context"] |= {"user": USER, "namespace": home}
    path = folder / "kubeconfig"
    path.touch(mode=0o600)
    path.write_text(json.dumps(config))
    return path


def binding(home: str, namespace: str) -> Json:
    """What the service account may do in a namespace."""
    group = "rbac.authorization.k8s.io"
    return {
        "apiVersion": f"{group}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": USER, "namespace": namespace},
        "subjects": [{"kind": "ServiceAccount", "name": USER, "namespace": home}],
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": ROLE},
    }


def run_program(
    program: Path, kubeconfig: Path, arguments: Sequence[str], variables: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a Python program that imports the SDK; a kubeconfig is all that it knows of us."""
    kept = {name: os.environ[name] for name in ("HOME", "PATH", "TMPDIR") if name in os.environ}
    return subprocess.run(
        [str(environment(*KUBEFLOW_SDK).path / "bin" / "python"), str(program), *arguments],
        env={**kept, "KUBECONFIG": str(kubeconfig), **variables},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
