"""A workload as the plan that its agent will carry out. Pure: nothing is touched.

The plan is the whole contract with the agent; `LocalBackend.submit` only writes it down and starts
the agent on it.
"""

import sys
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from trainway.backends.agents import agent_plan
from trainway.backends.agents.agent_plan import AgentRequest, plan_of, shown, status_path
from trainway.backends.agents.certificate import LOOPBACK
from trainway.backends.base import Isolation, Workload, isolation_of
from trainway.backends.local.containers import TOOLS, Tool
from trainway.backends.masking import is_confidential
from trainway.families.builtin import BUILTIN
from trainway.json_types import Json

if TYPE_CHECKING:
    from trainway.agent.base.plan_document import Plan

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
    python: tuple[str, ...] = (sys.executable, "-P")
    """Starts this very Python, which has Trainway, whatever the job's own folder has."""


class LocalRequest(AgentRequest):
    """One job for an agent of its own."""

    def text(self) -> str:
        """The plan, without the values of Secrets and of variables that look like one."""
        return shown(self.plan, is_confidential)


def plan(workload: Workload, host: Host) -> LocalRequest:
    """What the agent will be told."""
    directory = host.jobs / workload.id
    made: Plan = {
        **plan_of(workload, host.python),
        "env": {**workload.environ, **_status_variables(workload, directory)},
        "devices": {
            pod: {kind: list(names) for kind, names in kinds.items()}
            for pod, kinds in workload.devices.items()
        },
        "host": {"name": host.name, "ip": LOOPBACK},
        "status": {
            "port": status_port(workload.port),
            "path": status_path(workload),
            "certificate": CERTIFICATE,
            "key": KEY,
            "token": TOKEN,
        },
    }
    if isolation_of(workload.jobset) is Isolation.CONTAINER:
        made["containers"] = (host.tool or Tool(TOOLS[0])).plan(workload.environ)
    return LocalRequest(dict(made), directory)


def workload_of(plan: Json) -> Workload | None:
    """The workload that a plan was made from; None: it is not for this machine."""
    if any(row.plan_part in plan for row in BUILTIN.values() if row.plan_part):
        return None
    environ = {name: text for name, text in plan["env"].items() if name not in STATUS_VARIABLES}
    return replace(agent_plan.workload_of(plan), environ=environ, devices=plan["devices"])


def status_port(port: int) -> int:
    """Where a job reports its progress: beside the port on which its pods meet."""
    return port + 1


def _status_variables(workload: Workload, directory: PurePath) -> dict[str, str]:
    """By these the kubeflow SDK and the transformers callback find where to report."""
    address = f"https://{LOOPBACK}:{status_port(workload.port)}"
    values = (
        address + status_path(workload),
        str(directory / CERTIFICATE),
        str(directory / TOKEN),
    )
    return dict(zip(STATUS_VARIABLES, values, strict=True))
