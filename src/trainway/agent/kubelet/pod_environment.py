"""The Python environment of a pod: made before its containers start, held until they have ended.

What makes it is the pod's first container, a program of ours, so it is stopped, killed and logged
as any other. It may take long, and all pods of a job on a host wait for the same one.
"""

from __future__ import annotations

import json
import os

from trainway.agent.base.labels import ENVIRONMENT
from trainway.agent.base.own_program import agent_command
from trainway.agent.environment.requirements import Requirements
from trainway.agent.environment.shelf import Shelf
from trainway.agent.kubelet.command import Command
from trainway.agent.kubelet.container import INIT, Container
from trainway.agent.kubelet.process_tree import CONTAINER_MARK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainway.agent.base.pod_identity import PodIdentity
    from trainway.agent.kubelet.container import Owner
    from trainway.agent.kubelet.node import Node
    from trainway.json_types import Json

FOLDER = "environment"
FAILED = "EnvironmentFailed"
MOST_RESTARTS = 5
LARGEST_RESULT = 64 * 1024


class PodEnvironment:
    """What a pod of a job with packages does first."""

    def __init__(self, identity: PodIdentity, node: Node, owner: Owner) -> None:
        self._identity = identity
        self._node = node
        plan = node.plan
        self.is_wanted = (
            bool(plan.requirements)
            and not plan.containers
            and identity.role.name not in plan.without_packages
        )
        self.container = Container(
            {"name": ENVIRONMENT, "restartPolicy": "Never"}, INIT, owner, node
        )
        """The container that makes it; it is tried once in each pod."""
        self.failure = ""
        """Why there is none."""
        self.is_ready = False
        """Whether containers run in it, or could."""
        self._is_let_go = not node.holds_prepared_pods
        self._lease: int | None = None

    def prepare(self, containers: Sequence[Container]) -> None:
        """Say what is to be made, for a job that has these containers."""
        command = containers[0].command if containers else None
        if not self.is_wanted or command is None:
            return
        directory, name = self._node.directory, self._file
        directory.make(FOLDER)
        text = self._node.plan.requirements
        directory.write(f"{name}.txt", text.encode("utf-8", "surrogateescape"))
        directory.remove(f"{name}.json")
        paths = [directory.join(f"{name}{suffix}") for suffix in (".txt", ".json")]
        mark = f"{self._identity.uid}/{ENVIRONMENT}"
        self.container.command = Command(
            [*agent_command(), "environment", "make", *paths],
            env={**command.env, CONTAINER_MARK: mark},
            mark=mark,
        )
        summary = Requirements(text).summary()
        self._node.tell_once("Normal", "MakingEnvironment", f"preparing packages: {summary}")

    def adopt(self, containers: Sequence[Container]) -> bool:
        """Let containers run in what was made.

        False: it failed, it is made once more, or other pods of the job still wait for theirs.
        """
        if self.is_ready:
            return self._is_let_go
        told = self._result()
        self.failure = str(told.get("failure") or "")
        if self.failure:
            return False
        if told["key"]:
            shelf = Shelf(str(told["folder"]))
            self._lease = shelf.use(str(told["key"]))
            if self._lease is None and self.container.restarts < MOST_RESTARTS:
                self.container.start()  # somebody removed it, or another job makes it anew
                return False
            if self._lease is None:
                self.failure = "the environment was removed again and again before it was used"
                return False
            _activate(containers, shelf.path(str(told["key"])))
        self._node.tell_once("Normal", "EnvironmentReady", str(told["message"]))
        self.is_ready = True
        return self._is_let_go

    def let_go(self) -> None:
        """All pods of the job have theirs."""
        self._is_let_go = True

    def release(self) -> None:
        """Nothing of the pod uses it any more."""
        if self._lease is not None:
            os.close(self._lease)
            self._lease = None
        if self.is_wanted:
            for suffix in (".txt", ".json"):
                self._node.directory.remove(f"{self._file}{suffix}")

    @property
    def _file(self) -> str:
        return f"{FOLDER}/{self._identity.uid}"

    def _result(self) -> Json:
        """What came of it, as its container has written."""
        try:
            fd = self._node.directory.open_regular(f"{self._file}.json", os.O_RDONLY)
            with os.fdopen(fd, "rb") as file:
                told: Json = json.loads(file.read(LARGEST_RESULT))
            if "failure" in told or {"key", "message"} <= set(told):
                return told
        except (OSError, ValueError):
            pass
        said = self.container.message or f"it ended with {self.container.exit_code}"
        return {"failure": f"what makes the environment did not finish: {said}"}


def _activate(containers: Sequence[Container], path: str) -> None:
    """Put an environment in front of what containers find."""
    for container in containers:
        command = container.command
        if command is not None:
            programs = f"{path}/bin:{command.env.get('PATH') or os.defpath}"
            env = {**command.env, "PATH": programs, "VIRTUAL_ENV": path}
            env.pop("PYTHONHOME", None)
            command.env = env
