"""One call of srun, from its start to its end, and what its tasks say meanwhile."""

from __future__ import annotations

import json
import os

from trainway.agent.slurm.driver.recorder import Parts
from trainway.agent.transfer.program import Program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from trainway.agent.base.event_loop import EventLoop
    from trainway.agent.slurm.driver.task_frames import BeginStep, TaskOrder
    from trainway.agent.supervisor.remote_pod import RemotePod
    from trainway.json_types import Json


FOLDER = "steps"


class Step:
    """Tasks that run together; each of them is a pod."""

    def __init__(
        self,
        pods: Sequence[RemotePod],
        *,
        shares: bool,
        on_record: Callable[[RemotePod, Json], None],
        on_end: Callable[[Step, str], None],
    ) -> None:
        self.pods = list(pods)
        self.shares = shares
        """Whether another step holds what it uses."""
        self._by_uid = {pod.identity.uid: pod for pod in pods}
        self._on_record = on_record
        self._on_end = on_end
        self._received = b""
        self._parts = Parts()
        self._program: Program | None = None
        self.delay = 0
        """How many beats ago the last of its pods ended."""

    @property
    def places(self) -> set[str]:
        """What its pods hold until the last of them has ended."""
        return {pod.place for pod in self.pods}

    @property
    def is_over(self) -> bool:
        """Whether all of its pods have ended, so that it is about to end itself."""
        return all(pod.terminal for pod in self.pods)

    def start(
        self, loop: EventLoop, argv: Sequence[str], env: Mapping[str, str], frame: BeginStep
    ) -> None:
        """Start it, and tell its tasks what they are; OSError where there is no srun."""
        self._program = Program(loop, argv, env=env, on_output=self._take, on_end=self._end)
        self._write(frame)

    def order(self, order: TaskOrder) -> None:
        """Tell its tasks something; those whose `uid` it does not have ignore it."""
        self._write(order)

    def _write(self, order: Mapping[str, object]) -> None:
        if self._program is not None:
            self._program.write(json.dumps(order).encode() + b"\n")

    def kill(self) -> None:
        """End srun, and with it all tasks."""
        if self._program is not None:
            self._program.give_up()

    def _take(self, data: bytes) -> None:
        *lines, self._received = (self._received + data).split(b"\n")
        for line in lines:
            try:
                record = self._parts.whole(json.loads(line))
                pod = self._by_uid.get(record["uid"]) if record is not None else None
            except (ValueError, KeyError, TypeError):
                os.write(2, line + b"\n")  # something of the cluster's own, a greeting say
                continue
            if pod is not None and record is not None:
                self._on_record(pod, record)

    def _end(self, _status: int | None, errors: bytes) -> None:
        self._program = None
        if errors:
            os.write(2, errors)
        self._on_end(self, errors.decode("utf-8", "replace"))
