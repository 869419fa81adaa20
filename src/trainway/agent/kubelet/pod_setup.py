"""From the template of a pod to commands that can be started.

Everything that can be wrong with a template shows here, before anything runs.
"""

from __future__ import annotations

import posixpath

from trainway.agent.kubelet.bindings import Binding, PathMap
from trainway.agent.kubelet.command import Command
from trainway.agent.kubelet.container_tool import (
    Contained,
    ContainerRun,
    ContainerTool,
    inherited,
    tool_environment,
)
from trainway.agent.kubelet.downward import Downward
from trainway.agent.kubelet.environment import (
    command_line,
    declared,
    devices,
    submitted,
    with_completion_index,
)
from trainway.agent.kubelet.objects import MissingError
from trainway.agent.kubelet.process_tree import CONTAINER_MARK
from trainway.agent.kubelet.variables import DEFAULTS, JOB_ID, about_pod
from trainway.agent.kubelet.volumes import PodVolumes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainway.agent.base.pod_identity import PodIdentity
    from trainway.agent.kubelet.node import Node
    from trainway.json_types import Json


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
        about = about_pod(pod, node.output)
        own = declared(container, node.objects, self._downward, about)
        mark = f"{pod.uid}/{container['name']}"
        told = {"HOSTNAME": pod.hostname, **own, CONTAINER_MARK: mark}
        # The marks by which the processes of a job are found are not for the job to change.
        told[JOB_ID] = pod.plan.id
        told.update(node.marks(pod))
        given = {**DEFAULTS, **node.environment(pod)}
        gpus = devices(container, node.devices(pod))
        command, args = command_line(container, own)
        if node.plan.containers:
            run = ContainerRun(
                f"trainway-{pod.plan.id}-{pod.key}-{container['name']}-{pod.uid[:8]}",
                container,
                job_id=pod.plan.id,
                command=command,
                args=args,
            )
            run.env, run.gpus = {**inherited(given), **told}, gpus
            return self._contained(run, ContainerTool(node.plan.containers), own)
        argv = [*command, *args]
        if not argv:
            message = (
                f"container {container['name']} has neither command nor args, and what its image"
                " would run is not known here: give it a command"
            )
            raise SetupError("NoCommand", message)
        env = {**submitted(given, gpus), **gpus, **told}
        cwd = posixpath.join(node.plan.workdir, str(container.get("workingDir") or ""))
        view = node.view(self.volumes.bindings(container, own))
        if view is not None and not node.can_mount():
            paths = PathMap(view.bindings)
            node.tell_once("Warning", "PathsMapped", f"volumes are not mounted here: {paths}")
            argv, cwd, view = paths.command(argv), paths.path(cwd), None
            mapped = {name: text for name, text in own.items() if about.get(name) != text}
            env = {**env, **paths.environment(mapped)}
        env["PWD"] = posixpath.normpath(cwd)
        return Command(argv, env=env, cwd=posixpath.normpath(cwd), view=view, mark=mark)

    def _contained(self, run: ContainerRun, tool: ContainerTool, own: Mapping[str, str]) -> Command:
        """A container, run by a tool."""
        plan = self._node.plan
        if not run.spec.get("image"):
            raise SetupError("InvalidImageName", f"container {run.spec['name']} has no image")
        bindings = [*self._shared(), *self.volumes.bindings(run.spec, own)]
        run.bindings = list({binding.target: binding for binding in bindings}.values())
        for binding in run.bindings:
            if ":" in binding.source + binding.target:
                message = f"{binding}: a container cannot mount a path with a colon"
                raise SetupError("FailedMount", message)
        given = str(run.spec.get("workingDir") or "")
        if given or run.command:
            run.cwd = posixpath.normpath(posixpath.join(plan.workdir, given))
        return Command(
            tool.run(run),
            env=tool_environment(plan.env, run.env),
            mark=run.env[CONTAINER_MARK],
            contained=Contained(tool, run.name),
        )

    def _shared(self) -> list[Binding]:
        """What every container sees of this machine, at the same paths."""
        node = self._node
        paths = [node.output] if node.plan.workdir == "/" else [node.plan.workdir, node.output]
        names = [node.plan.status.get(name) for name in ("certificate", "token")]
        reports = [node.directory.join(str(name)) for name in names if name]
        return [
            *(Binding(path, path) for path in paths),
            *(Binding(path, path, read_only=True) for path in reports),
        ]
