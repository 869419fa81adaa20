"""Gangs on clouds that make one machine at a time, and know no tokens.

What there is of a gang is looked at first, and only what is missing is made. If one cannot be had
the others are ended again. A machine that was made although its answer was lost is found by its
tags the next time; of two with one rank the second is ended.
"""

from collections.abc import Callable, Sequence

from trainway.providers.base import GangRequest, Machine, MachineState
from trainway.providers.errors import ProviderError, Scope, Trouble


def starting(request: GangRequest, rank: int, name: str) -> Machine:
    """A machine that was just made, and is not in any list yet."""
    return Machine(
        id=name,
        token=request.token,
        cluster=request.cluster,
        rank=rank,
        place=request.place,
        state=MachineState.STARTING,
        instance_type=request.instance_type,
        spot=request.spot,
    )


def surplus(found: Sequence[Machine], count: int) -> list[str]:
    """Machines of a request beyond one for each rank."""
    seen: set[int] = set()
    extra = []
    for each in sorted(found, key=lambda each: (each.rank, each.id)):
        if each.rank in seen or each.rank >= count:
            extra.append(each.id)
        seen.add(each.rank)
    return extra


def create(
    request: GangRequest,
    find: Callable[[], list[Machine]],
    make: Callable[[int], str],
    end: Callable[[Sequence[str]], None],
) -> list[Machine]:
    """All machines of a gang, or none. `make` gives the id of the machine with a rank."""
    made: dict[str, Machine] = {}
    try:
        having = {each.rank for each in find()}
        for rank in range(request.count):
            if rank not in having:
                name = make(rank)
                made[name] = starting(request, rank, name)
        found = made | {each.id: each for each in find()}
    except ProviderError:
        end(sorted({*made, *(each.id for each in find())}))
        raise
    extra = surplus(list(found.values()), request.count)
    if extra:
        end(extra)
    gang = [each for each in found.values() if each.id not in extra]
    return sorted(gang, key=lambda each: each.rank)


def unstoppable(cloud: str, why: str, region: str, machines: Sequence[str]) -> ProviderError:
    """What is said where machines can only be ended."""
    return ProviderError(
        f"{cloud}: {why} ({', '.join(machines)} in {region})",
        trouble=Trouble.INVALID,
        scope=Scope.CLOUD,
    )
