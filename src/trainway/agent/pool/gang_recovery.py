"""What a job's journal tells the next pool agent beyond its Jobs and pods: where they are.

Unlike the agent of this machine, a pool agent that dies takes no pod with it: they run on under the
agents of their hosts, and the next pool agent asks those to go on reporting from where it stopped.
"""

from __future__ import annotations

from trainway.agent.pool.gang_state import GangState
from trainway.agent.supervisor.recovery import Remembered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainway.json_types import Json


FIRST_TOKEN = 1


class GangMemory:
    """The last that the journal of a gang says."""

    def __init__(self, records: Sequence[Json]) -> None:
        self.remembered = Remembered(records)
        self.is_new = not records or self.remembered.left
        """Whether no agent has the job, so that none was lost."""
        self.started = False
        """Whether the controllers of the job had begun."""
        self.token = FIRST_TOKEN
        """The token of its placement, or of the next one where that is to be left or is none."""
        self.placement: Json | None = None
        self.hosts: set[str] = set()
        """All hosts that it ever was placed on."""
        self.leaving = False
        """Whether the placement counts no more though pods may still run there."""
        self.restarts = 0
        """How many restarts the JobSet must have had since the placement is left."""
        self.bases: dict[str, int] = {}
        """How long the copies of logs were when the hosts began theirs."""
        self.seqs: dict[str, int] = {}
        """The number of the last record of each host."""
        for record in records:
            self._take(record)

    @property
    def state(self) -> GangState:
        """What the gang was."""
        if self.remembered.ended:
            return GangState.ENDED
        if self.placement is not None:
            return GangState.LEAVING if self.leaving else GangState.PLACED
        return GangState.PENDING if self.started else GangState.NEW

    def _take(self, record: Json) -> None:
        type_ = record.get("type")
        if type_ == "placement":
            self._take_placement(record)
        elif type_ in ("status", "job"):
            self.started = True
        if "hostSeq" in record:
            host = str(record.get("host"))
            self.seqs[host] = max(int(record["hostSeq"]), self.seqs.get(host, -1))

    def _take_placement(self, record: Json) -> None:
        self.token = int(record["token"])
        self.leaving = bool(record.get("leaving"))
        self.restarts = int(record.get("restarts") or 0)
        self.placement = record if record.get("hosts") else None
        self.hosts.update((record.get("hosts") or {}).values())
        if "resized" in record:
            self.bases = dict(record.get("logs") or {})
            for host in record["resized"]:
                self.seqs.pop(host, None)
        elif not self.leaving:
            self.bases = dict(record.get("logs") or {})
            self.seqs = {}
