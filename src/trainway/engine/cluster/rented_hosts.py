"""Rented machines as hosts that a pool agent is told of.

Who answers there is remembered for each rental apart, since clouds give addresses to others later.
"""

from trainway.agent.pool.attendance import SETTING as UNATTENDED
from trainway.backends.login.login_fields import PYTHON
from trainway.engine.cluster.agents import host_name
from trainway.engine.rental.record import Rental, RentedMachine
from trainway.engine.rental.ssh_key import SshKey
from trainway.json_types import Json


def told_hosts(rental: Rental, key: SshKey, unattended: Json | None = None) -> list[Json]:
    """The machines of a rental, as a pool agent is told of hosts.

    `unattended` says when they shut themselves down; None: never.
    """
    known = f"{key.folder}/known_hosts-{rental.token}"
    options = ["-o", f"UserKnownHostsFile={known}", "-o", "StrictHostKeyChecking=accept-new"]
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
        }
        for machine in rental.machines
    ]


def _outside(machine: RentedMachine) -> str:
    return machine.public_address or machine.private_address
