"""What jobs are told that wait for a machine, in the words of its queue. Pure.

Each is told who stands right before it, so that one that starts changes what the next one is told,
and not what ten thousand are.
"""

from trainway.agent.controllers import gang_queue
from trainway.agent.controllers.gang_queue import QUEUED, Verdict, wait
from trainway.queueing.reservation import Reservation
from trainway.queueing.snapshot import WaitingGang
from trainway.queueing.wording import expected


class MachineWords:
    """The words of one decision."""

    def __init__(self) -> None:
        self._last: dict[str, str] = {}
        """Who was told last to wait, by place."""

    def first(self, gang: WaitingGang, message: str, reservation: Reservation) -> str:
        """What is short, who holds it, and when it will be free if that is known."""
        self._last[gang.lane] = gang.name
        return _joined(message, expected(reservation))

    def rescued(self, gang: WaitingGang, message: str, rescue: str) -> str:
        """What is short, and who makes room."""
        self._last[gang.lane] = gang.name
        return _joined(message, rescue)

    def turn(self, gang: WaitingGang) -> Verdict:
        """Who is right before it."""
        ahead = self._last[gang.lane]
        self._last[gang.lane] = gang.name
        return wait(QUEUED, gang_queue.turn(ahead), holds_back=False)


def _joined(message: str, sentence: str) -> str:
    """A sentence behind a message, which may be one itself or only a part of one."""
    if not sentence or message.endswith("."):
        return f"{message} {sentence}".strip()
    return f"{message}; {sentence[0].lower()}{sentence[1:].removesuffix('.')}"
