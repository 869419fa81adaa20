"""What a request needs of a cloud, so that nothing is left out in silence."""

from collections.abc import Iterator, Mapping

from trainway.providers.base import Ability, GangRequest, MachineState
from trainway.providers.errors import ProviderError, Scope, Trouble


def needed(request: GangRequest) -> Iterator[Ability]:
    """What a cloud must be able to do to fulfil a request."""
    wants = {
        Ability.SPOT: request.spot,
        Ability.SEVERAL_NODES: request.count > 1,
        Ability.OPEN_PORTS: bool(request.ports),
        Ability.IMAGES: bool(request.image),
        Ability.DISK_SIZE: bool(request.disk_gib),
        Ability.DISK_TIER: bool(request.disk_tier),
        Ability.RESERVATIONS: bool(request.reservation),
    }
    return (ability for ability, is_wanted in wants.items() if is_wanted)


def require(cloud: str, request: GangRequest, missing: Mapping[Ability, str]) -> None:
    """Raise what of a request the cloud cannot do."""
    for ability in needed(request):
        if ability in missing:
            raise ProviderError(
                f"{cloud}: {missing[ability]}", trouble=Trouble.INVALID, scope=Scope.CLOUD
            )


def shutdown_effect(
    missing: Mapping[Ability, str], *, ends: bool, spot: bool
) -> MachineState | None:
    """What becomes of a machine that shuts itself down; None: it is paid for all the same.

    `ends` is what was asked for when it was made. Spot machines end wherever machines can end so.
    """
    if (ends or spot) and Ability.END_BY_SHUTDOWN not in missing:
        return MachineState.ENDED
    return None if Ability.STOP_BY_SHUTDOWN in missing else MachineState.STOPPED
