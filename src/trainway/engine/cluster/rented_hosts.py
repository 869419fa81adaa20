"""Rented machines as hosts that a pool agent is told of.

Who answers there is remembered for each rental apart, since clouds give addresses to others later.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from trainway.agent.host.spot_notice import SOURCES
from trainway.agent.pool.attendance import SETTING as UNATTENDED
from trainway.agent.pool.notices import SETTING as NOTICES
from trainway.backends.login.login_fields import PYTHON
from trainway.engine.cluster.agents import host_name
from trainway.engine.cluster.record import ClusterRecord
from trainway.engine.cluster.shape import Shape
from trainway.engine.queue import GPUS
from trainway.engine.rental.host_key import KNOWN, PRIVATE, is_given
from trainway.engine.rental.record import Rental, RentedMachine
from trainway.engine.rental.ssh_key import SshKey
from trainway.jobset.quantity import Quantity
from trainway.json_types import Json
from trainway.providers.base import Notice


def told_hosts(
    rental: Rental, key: SshKey, unattended: Json | None = None, metadata_address: str = ""
) -> list[Json]:
    """The machines of a rental, as a pool agent is told of hosts.

    `unattended` says when they shut themselves down; None: never. `metadata_address` is where spot
    machines ask whether they are taken; empty: where clouds have it.
    """
    known = f"{key.folder}/{KNOWN}{rental.token}"
    checks = "yes" if is_given(key.folder, rental.token) else "accept-new"
    options = ["-o", f"UserKnownHostsFile={known}", "-o", f"StrictHostKeyChecking={checks}"]
    options += ["-o", "IdentitiesOnly=yes"]
    return [
        {
            "name": host_name(rental.cluster, machine.rank),
            "destination": f"{machine.user}@{_outside(machine)}"
            if machine.user
            else _outside(machine),
            "port": machine.ssh_port,
            "user": machine.user,
            "address": machine.private_address or machine.public_address,
            "options": options,
            "python": PYTHON,
            "identity": key.identity,
            **({} if unattended is None else {UNATTENDED: unattended}),
            **_notices(rental, machine, metadata_address),
        }
        for machine in rental.machines
    ]


def _notices(rental: Rental, machine: RentedMachine, address: str) -> Json:
    """Whom a machine asks whether it is about to be taken; nothing, where nobody would say."""
    if not rental.spot or rental.cloud not in SOURCES:
        return {}
    name = machine.id.rpartition("/")[2]  # that of Azure has its group before it
    return {NOTICES: {"cloud": rental.cloud, "machine": name, "address": address}}


def told_notices(rental: Rental, told: Mapping[str, Json]) -> list[Notice]:
    """What machines of a rental say of being taken, by the names of their hosts.

    That it is only likely takes nothing.
    """
    found = {
        machine.id: told.get(host_name(rental.cluster, machine.rank)) for machine in rental.machines
    }
    return [
        Notice(name, str(each.get("at") or ""), str(each.get("why") or ""))
        for name, each in found.items()
        if each and not each.get("risk")
    ]


def forget_hosts(key: SshKey, rentals: Iterable[Rental]) -> None:
    """Forget who answered on machines of rentals that are none of these: they are gone."""
    kept = {rental.token for rental in rentals}
    for begin in (KNOWN, PRIVATE):
        for path in Path(key.folder).glob(f"{begin}*"):
            if path.name.removeprefix(begin) not in kept:
                path.unlink(missing_ok=True)


def _outside(machine: RentedMachine) -> str:
    return machine.public_address or machine.private_address


def measured(record: ClusterRecord, hosts: list[Json]) -> Shape:
    """What each node has: the whole of the smallest machine."""
    return Shape(
        record.nodes,
        Quantity.parse(f"{min(host['cpus'] for host in hosts):.3f}"),
        Quantity.parse(min(int(host.get("memory") or 0) for host in hosts)),
        min(len(host.get("gpus") or ()) for host in hosts),
        record.shape.accelerator,
    )


def devices(hosts: list[Json]) -> Json:
    """The GPUs of each node, which has all of its machine."""
    nodes = enumerate(hosts)
    return {f"node-{index}": {GPUS: list(host.get("gpus") or ())} for index, host in nodes}
