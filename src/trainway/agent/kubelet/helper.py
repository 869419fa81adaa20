"""A short program that runs beside the containers: a hook, a probe's question, a removal."""

from __future__ import annotations

from trainway.agent.kubelet.processes import Listener

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.base.event_loop import Timer
    from trainway.agent.kubelet.processes import Process


class Helper(Listener):
    """Waits for such a program; the answer is whether it went well."""

    def __init__(self, answer: Callable[[bool], None]) -> None:
        self.answer = answer
        self.process: Process | None = None
        self.timer: Timer | None = None

    def on_gone(self, process: Process) -> None:
        """Pass on how it went."""
        if self.timer is not None:
            self.timer.cancel()
        self.answer(process.exit_code == 0)
