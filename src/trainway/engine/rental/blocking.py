"""What is not tried again after a cloud has refused, and what it need not be asked for. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from trainway.engine.rental.record import Attempt
from trainway.engine.rental.terms import Terms
from trainway.optimizer.request import Block
from trainway.providers.base import Ability
from trainway.providers.errors import ProviderError, Scope, Trouble

_OF_THE_TYPE: Final = frozenset({Trouble.CAPACITY, Trouble.QUOTA, Trouble.INVALID})
"""Troubles that say nothing of other types of machine in the same place."""


def block(attempt: Attempt, error: ProviderError, gpus: tuple[str, int] = ("", 0)) -> Block | None:
    """As much as an error was about; None: the same may work in a moment.

    `gpus`: what each machine would have had, where an error may be about that.
    """
    found = _block(attempt, error)
    if found is None or not error.of_accelerator or not gpus[0]:
        return found
    return replace(found, instance_type=None, accelerator=gpus[0], accelerator_count=gpus[1])


def _block(attempt: Attempt, error: ProviderError) -> Block | None:
    spot = True if error.spot_only else None
    if error.trouble is Trouble.QUOTA:
        spot = attempt.spot  # clouds count both kinds apart
    kind = attempt.instance_type if error.trouble in _OF_THE_TYPE else None
    region, zone = attempt.region or None, attempt.zone or None
    if error.scope is Scope.NONE:
        return None
    if attempt.reservation and error.trouble in _OF_THE_TYPE:
        return Block(attempt.cloud, reservation=attempt.reservation)  # the rest may have room
    match error.scope:
        case Scope.ZONE:
            return Block(attempt.cloud, region, zone, kind, spot)
        case Scope.REGION:
            return Block(attempt.cloud, region, None, kind, spot)
        case Scope.INSTANCE_TYPE:
            return Block(attempt.cloud, instance_type=attempt.instance_type, spot=spot)
        case Scope.CLOUD:
            return Block(attempt.cloud, spot=spot)


def only_there(attempt: Attempt) -> Block:
    """The offer itself and nothing beside it, for one that was asked for often enough."""
    if attempt.reservation:
        return Block(attempt.cloud, reservation=attempt.reservation)
    region, zone = attempt.region or None, attempt.zone or None
    return Block(attempt.cloud, region, zone, attempt.instance_type, attempt.spot)


def reason_against(
    cloud: str, missing: Mapping[Ability, str], terms: Terms, *, nodes: int, spot: bool
) -> str | None:
    """Why a cloud cannot give what is wanted, whatever it offers; None: it can."""
    for ability in _needed(terms, nodes=nodes, spot=spot):
        if ability in missing:
            return f"{cloud} cannot do that ({ability}): {missing[ability]}"
    return None


def _needed(terms: Terms, *, nodes: int, spot: bool) -> Iterator[Ability]:
    wanted = {
        Ability.SPOT: spot,
        Ability.SEVERAL_NODES: nodes > 1,
        Ability.OPEN_PORTS: bool(terms.ports),
        Ability.IMAGES: bool(terms.image or terms.images),
        Ability.DISK_SIZE: bool(terms.disk_gib),
        Ability.DISK_TIER: bool(terms.disk_tier),
        Ability.RESERVATIONS: bool(terms.reservation),
        Ability.FAST_NETWORK: terms.fast_network,
    }
    return (ability for ability, is_wanted in wanted.items() if is_wanted)
