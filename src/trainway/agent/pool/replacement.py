"""A gang that lost a host gets another one for it, and keeps the places of its other pods. Pure.

What they have written stays where it is, and nothing has to be sent to where it was sent before.
"""

from __future__ import annotations

from trainway.agent.pool.placement import GPUS, Amount, Placement, place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trainway.agent.pool.placement import Room
    from trainway.json_types import Json


def place_again(
    demand: Sequence[Json], rooms: Sequence[Room], former: Mapping[str, str]
) -> Placement | None:
    """A place for every pod, the same as before wherever it is free; None where that fails.

    `former` has the host that each pod had.
    """
    left = {room.name: room.copy() for room in rooms}
    kept, taken, lacking = Placement({}), set(), []
    for item in demand:
        amount = Amount.read(item)
        room = left.get(former.get(amount.pod, ""))
        devices = room.devices_for(amount) if room is not None else None
        if room is None or devices is None:
            lacking.append(item)
            continue
        room.change(amount, devices, -1)
        taken.add((amount.apart, room.name))
        kept.hosts[amount.pod] = room.name
        if devices:
            kept.devices[amount.pod] = {GPUS: devices}
    for item in lacking:
        free = [room for room in left.values() if (item.get("apart"), room.name) not in taken]
        found = place([item], free)
        if found is None:
            return None
        (host,) = found.hosts.values()
        amount = Amount.read(item)
        left[host].change(amount, found.names(amount.pod), -1)
        taken.add((amount.apart, host))
        kept.hosts.update(found.hosts)
        kept.devices.update(found.devices)
    return Placement(
        {str(item["pod"]): kept.hosts[str(item["pod"])] for item in demand}, kept.devices
    )
