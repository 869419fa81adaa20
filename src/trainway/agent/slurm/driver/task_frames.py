"""The lines between the driver of a job on Slurm and its tasks, each of which is a pod.

The driver writes to the standard input of srun, which every task of the step reads; a task writes
to its standard output. A line is one JSON object, and one that is longer than srun keeps whole
goes in parts. A task also sends the records `pod`, `event`, `progress` and `usage` of the journal,
with its `uid`. For type checkers only; `docs/protocols.md` is made from this module.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, NotRequired, TypedDict

    from trainway.agent.base.plan_document import PodName
    from trainway.json_types import Json

    class TaskPod(TypedDict):
        """The pod of one task."""

        key: str
        """The key of the pod: `<role>-<job>-<pod>`."""
        pod: PodName
        env: Json
        """The variables that name its devices, where another step holds them."""

    class BeginStep(TypedDict):
        """The first line: what the tasks of a step are."""

        token: str
        """The attempt of the job."""
        addresses: dict[str, str]
        """The address of each pod of the job, by its key."""
        machines: dict[str, str]
        """The address of each node, by its name."""
        peers: Json
        """Where the pods are, for MPI; empty where a shared file has it."""
        pods: list[TaskPod]
        """The pods of the step, in the order of SLURM_PROCID."""

    class PingTasks(TypedDict):
        """Lets all pods go on: without it they end after ten seconds. Answered with `pong`."""

        op: Literal["ping"]

    class EchoTask(TypedDict):
        """Asks whether one task is there. Answered with `echo`."""

        op: Literal["echo"]
        uid: str
        """The uid of the pod."""

    class StopTask(TypedDict):
        """Stops one pod, or all."""

        op: Literal["stop"]
        how: str
        """`delete`: with the grace period; `kill`: at once; `fence`: another attempt counts."""
        uid: NotRequired[str]
        """The uid of the pod; without it all stop."""

    class LetTaskGo(TypedDict):
        """Starts a pod that has its environment and waits until all pods of its job have theirs."""

        op: Literal["go"]
        uid: str
        """The uid of the pod."""

    TaskOrder = PingTasks | EchoTask | StopTask | LetTaskGo

    class TaskWord(TypedDict):
        """What a task says that is of no use later."""

        type: Literal["pong", "echo", "place", "signal", "failed"]
        """`place`: where it runs; `signal`: Slurm asks it to end; `failed`: its agent failed."""
        uid: str
        """The uid of the pod."""
        devices: NotRequired[dict[str, str]]
        """The variables by which Slurm names the devices of the task, with `place`."""
        message: NotRequired[str]
        """Why the agent of the pod failed, with `failed`."""

    class Part(TypedDict):
        """A part of a line that is too long for srun."""

        uid: str
        """The uid of the pod."""
        part: str
        """The part, in Base64."""
        last: bool
        """Whether the part is the last one."""
