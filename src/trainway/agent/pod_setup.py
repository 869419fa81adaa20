"""From the template of a pod to commands that can be started.

Everything that can be wrong with a template shows here, before anything runs.
"""

from __future__ import annotations

import posixpath

from trainway.agent.bindings import PathMap
from trainway.agent.command import Command
from trainway.agent.downward import Downward
from trainway.agent.environment import (
    about_rank,
    command_line,
    declared,
    devices,
    with_completion_index,
)
from trainway.agent.objects import MissingError
from trainway.agent.process_tree import CONTAINER_MARK
from trainway.agent.volumes import PodVolumes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from trainway.agent.node import Node
    from trainway.agent.pod_identity import PodIdentity

    Json = dict[str, Any]


class SetupError(Exception):
    """The pod cannot run as it is written. `reason` is a word, the message a sentence."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class PodSetup:
    """Prepares one pod."""

    def __init__(self, pod: PodIdentity, node: Node) -> None:
        self._pod = pod
        self._node = node
        self._downward = Downward(pod, node.capacity())
        self.volumes = PodVolumes(pod, node.directory, node.objects, self._downward)

    def make_volumes(self) -> None:
        """Make the directories that containers mount."""
        try:
            self.volumes.make()
        except (MissingError, KeyError) as error:
            raise SetupError("FailedMount", str(error)) from error

    def command(self, container: Json) -> Command:
        """What is to be started for a container."""
        try:
            return self._command(container)
        except MissingError as error:
            message = f"container {container['name']}: {error}"
            raise SetupError("CreateContainerConfigError", message) from error

    def _command(self, container: Json) -> Command:
        pod, node = self._pod, self._node
        if pod.role.job.indexed:
            container = with_completion_index(container)
        own = declared(container, node.objects, self._downward)
        argv = command_line(container, own)
        if not argv:
            message = (
                f"container {container['name']} has neither command nor args, and what its image"
                " would run is not known here: give it a command"
            )
            raise SetupError("NoCommand", message)
        mark = f"{pod.uid}/{container['name']}"
        assigned = node.plan.devices.get(pod.key) or {}
        env = {
            **node.plan.env,
            **about_rank(pod, node.output),
            **devices(container, assigned),
            **own,
            CONTAINER_MARK: mark,
        }
        # The marks by which the processes of a job are found are not for the job to change.
        env["TRAINWAY_JOB_ID"] = pod.plan.id
        cwd = posixpath.join(node.plan.workdir, str(container.get("workingDir") or ""))
        view = node.view(self.volumes.bindings(container, own))
        if view is not None and not node.can_mount():
            paths = PathMap(view.bindings)
            node.tell_once("Warning", "PathsMapped", f"volumes are not mounted here: {paths}")
            argv, cwd, view = paths.command(argv), paths.path(cwd), None
            env = {**env, **paths.environment(own)}
        env["PWD"] = posixpath.normpath(cwd)
        return Command(argv, env=env, cwd=posixpath.normpath(cwd), view=view, mark=mark)
