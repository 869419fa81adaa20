"""When rented machines shut themselves down, because their server is gone. Pure.

Their agent is told these terms (`agent/pool/attendance.py` has the rule): as long as a server is
there it says so, and a machine that hears nobody and runs nothing ends itself after a while. What
is not said for a cluster is that its machines may go, unless it has autostop; a worker is there for
the jobs of its pool alone, and always goes.
"""

from trainway.engine.cluster.record import ClusterRecord
from trainway.engine.rental.record import Rental
from trainway.json_types import Json
from trainway.providers.base import MachineState
from trainway.providers.section import CloudSettings


def ends_by_shutdown(record: ClusterRecord) -> bool:
    """Whether machines are made so that a shutdown ends them; otherwise it stops them."""
    return bool(record.worker_pool) or bool((record.autostop_data or {}).get("down"))


def terms(
    record: ClusterRecord, rental: Rental, effect: MachineState | None, settings: CloudSettings
) -> Json | None:
    """What the machines of a cluster are told; None: a shutdown would not save anything."""
    if effect is None:
        return None
    told: Json = {
        "margin": settings.unattended_minutes * 60,
        "worker": bool(record.worker_pool),
        "loses": effect is MachineState.ENDED and not rental.spot,
    }
    if settings.shutdown_command:
        told["command"] = settings.shutdown_command
    return told


def explanation(record: ClusterRecord, told: Json | None) -> str:
    """What is to be said of machines that have gone by themselves, after what is known of it."""
    autostop = record.autostop_data
    if told is None or (autostop is None and not record.worker_pool):
        return ""
    minutes = told["margin"] / 60 + (autostop["minutes"] if autostop else 0)
    return f" (they shut themselves down when no server is heard for {minutes:g} minutes)"
