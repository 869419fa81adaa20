"""The container tool of this machine, for jobs that are to run in containers of their images."""

import os
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from trainway.agent.kubelet.container_tool import ContainerTool
from trainway.agent.supervisor.recovery import purge

if TYPE_CHECKING:
    from trainway.agent.base.plan_document import ContainerPlan

TOOLS: Final = ("podman", "docker")
FLAGS: Final = "TRAINWAY_CONTAINER_FLAGS"
"""The variable with flags for every call of the tool, such as `--root DIR`."""
RUN_FLAGS: Final = "TRAINWAY_CONTAINER_RUN_FLAGS"
"""The variable with flags for `run` alone, such as `--shm-size 8g`."""


@dataclass(frozen=True)
class Tool:
    """A container tool that was found."""

    program: str
    flags: Mapping[str, str] = field(default_factory=dict)
    """The flags of the server's own for jobs that bring none, by the variables they come in."""

    @property
    def name(self) -> str:
        """Which of the tools it is."""
        return PurePath(self.program).name

    def plan(self, environ: Mapping[str, str]) -> "ContainerPlan":
        """What an agent must know to use it, with the flags that the environment asks for."""
        environ = {**self.flags, **environ}
        made: ContainerPlan = {"tool": self.name, "program": self.program}
        if environ.get(FLAGS):
            made["flags"] = shlex.split(environ[FLAGS])
        if environ.get(RUN_FLAGS):
            made["runFlags"] = shlex.split(environ[RUN_FLAGS])
        return made


def find_tool() -> Tool | None:
    """The first tool on PATH."""
    flags = {name: os.environ[name] for name in (FLAGS, RUN_FLAGS) if name in os.environ}
    return next((Tool(program, flags) for tool in TOOLS if (program := shutil.which(tool))), None)


def clear_containers(job_id: str) -> None:
    """Remove the containers of a job whose plan is lost."""
    tool = find_tool()
    if tool is not None:
        purge(ContainerTool(dict(tool.plan({}))), job_id, os.environ)
