"""A workload as the plan that its agent will carry out. Pure: nothing is touched.

The plan is the whole contract with the agent; `LocalBackend.submit` only writes it down and starts
the agent on it.
"""

import copy
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

from trainway.backends.base import Isolation, Workload, as_json, isolation_of
from trainway.backends.demand import demand_of
from trainway.backends.local.containers import TOOLS, Tool
from trainway.backends.local.network import LOOPBACK
from trainway.backends.masking import MASK, is_confidential, masked_object

Json = dict[str, Any]

VERSION: Final = 1
CERTIFICATE: Final = "status/tls.crt"
KEY: Final = "status/tls.key"
TOKEN: Final = "status/token"  # noqa: S105 - the name of a file
STATUS_VARIABLES: Final = (
    "KUBEFLOW_TRAINER_SERVER_URL",
    "KUBEFLOW_TRAINER_SERVER_CA_CERT",
    "KUBEFLOW_TRAINER_SERVER_TOKEN",
)


@dataclass(frozen=True)
class Host:
    """What a plan must know of this machine."""

    jobs: PurePath
    """Where the directories of all jobs are."""
    name: str
    tool: Tool | None = None
    """What runs containers, where a job asks for them."""


@dataclass(frozen=True)
class LocalRequest:
    """One job for the agent."""

    plan: Json
    directory: PurePath

    @property
    def handle(self) -> Json:
        """How the job is found again."""
        port = self.plan["network"]["port"]
        return {"id": self.plan["id"], "directory": str(self.directory), "port": port}

    def text(self) -> str:
        """The plan, without the values of Secrets and of variables that look like one."""
        shown = copy.deepcopy(self.plan)
        shown["objects"] = [masked_object(obj) for obj in shown["objects"]]
        shown["env"] = {
            name: MASK if is_confidential(name) else value for name, value in shown["env"].items()
        }
        return as_json(shown)


def plan(workload: Workload, host: Host) -> LocalRequest:
    """What the agent will be told."""
    directory = host.jobs / workload.id
    return LocalRequest(
        directory=directory,
        plan={
            "version": VERSION,
            "id": workload.id,
            "name": workload.name,
            "namespace": workload.namespace,
            "jobset": workload.jobset,
            "objects": workload.objects,
            "workdir": workload.workdir,
            "env": {**workload.environ, **_status_variables(workload, directory)},
            "devices": {
                pod: {kind: list(names) for kind, names in kinds.items()}
                for pod, kinds in workload.devices.items()
            },
            "mounts": "namespace",
            "host": {"name": host.name, "ip": LOOPBACK},
            "network": {"port": workload.port},
            "status": {
                "port": status_port(workload.port),
                "path": status_path(workload),
                "certificate": CERTIFICATE,
                "key": KEY,
                "token": TOKEN,
            },
            **_containers(workload, host),
        },
    )


def _containers(workload: Workload, host: Host) -> Json:
    if isolation_of(workload.jobset) is not Isolation.CONTAINER:
        return {}
    return {"containers": (host.tool or Tool(TOOLS[0])).plan(workload.environ)}


def workload_of(plan: Json) -> Workload | None:
    """The workload that a plan was made from; None: it is not for this machine."""
    if "pool" in plan or "slurm" in plan:
        return None
    return Workload(
        id=plan["id"],
        name=plan["name"],
        namespace=plan["namespace"],
        jobset=plan["jobset"],
        objects=plan["objects"],
        workdir=plan["workdir"],
        environ={
            name: value for name, value in plan["env"].items() if name not in STATUS_VARIABLES
        },
        port=plan["network"]["port"],
        demand=demand_of(plan["jobset"]["spec"]),
        devices=plan["devices"],
    )


def status_port(port: int) -> int:
    """Where a job reports its progress: beside the port on which its pods meet."""
    return port + 1


def status_path(workload: Workload) -> str:
    """Where on the server of its agent a job reports its progress."""
    resource = f"namespaces/{workload.namespace}/trainjobs/{workload.name}/status"
    return f"/apis/trainer.kubeflow.org/v1alpha1/{resource}"


def _status_variables(workload: Workload, directory: PurePath) -> dict[str, str]:
    """By these the kubeflow SDK and the transformers callback find where to report."""
    address = f"https://{LOOPBACK}:{status_port(workload.port)}"
    values = (
        address + status_path(workload),
        str(directory / CERTIFICATE),
        str(directory / TOKEN),
    )
    return dict(zip(STATUS_VARIABLES, values, strict=True))
