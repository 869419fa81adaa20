"""Asks every place what it offers for a job: whether it would take it, and whether it fits now.

Each is asked on its own and for a limited time, so that one that does not answer holds up no other.
Nothing is submitted, and nothing reserved.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from trainway.backends import capabilities, node_sharing
from trainway.backends.base import Backend, Capacity, Request
from trainway.backends.demand import Demand
from trainway.backends.nodes import BeginsSmaller, HasNodes, SharesNodes
from trainway.backends.pod_demand import pod_demands
from trainway.backends.registry import Registry
from trainway.engine.intake import elements, prepare
from trainway.engine.moving.candidates import is_undecided
from trainway.engine.phases import WAITING
from trainway.engine.placement.node_fit import fit
from trainway.engine.placement.offer import Fit, Offer, waiting
from trainway.engine.placement.prices import price_of
from trainway.engine.queue import never_fits
from trainway.engine.reading import Reading
from trainway.engine.submission import Prepared, Submission, parted
from trainway.errors import InvalidError, TrainwayError
from trainway.families.table import family_of

_LIMIT_S: Final = 20.0
_MOST_AHEAD: Final = 1_000
"""How many jobs are counted that wait in a place."""


class Asked(Protocol):
    """What is asked of the engine."""

    registry: Registry
    reading: Reading

    async def plan(self, submission: Submission) -> tuple[Request, list[str]]:
        """What would be sent for a submission; raises why it cannot be."""
        ...

    def free(self, backend: Backend, capacity: Capacity) -> Capacity:
        """What no job of ours holds of what a backend has; asked by no other thread."""
        ...

    async def rentable(self, submission: Submission) -> tuple[float, str]:
        """What an hour of a machine costs that would be rented, and which it is; raises why not."""
        ...


async def offers(
    engine: Asked, submissions: Sequence[Submission], prices: Mapping[str, Any]
) -> list[Offer]:
    """What the places of these submissions say, in their order."""
    asked = (
        _asked(engine, submission, order, prices) for order, submission in enumerate(submissions)
    )
    return list(await asyncio.gather(*asked))


async def _asked(
    engine: Asked, submission: Submission, order: int, prices: Mapping[str, Any]
) -> Offer:
    place = submission.backend
    price = price_of(prices, place)
    try:
        async with asyncio.timeout(_LIMIT_S):
            if family_of(place).rents:
                hourly, reason = await engine.rentable(submission)
                return Offer(place, Fit.RENT, reason, order, hourly)
            found, reason, ahead, demand = await _fit(engine, submission)
    except TimeoutError:
        said = f"it does not answer within {_LIMIT_S:g} seconds"
        return Offer(place, Fit.NEVER, said, order, price)
    except InvalidError as error:
        return Offer(place, Fit.NEVER, "; ".join(error.lines), order, price)
    except TrainwayError as error:
        return Offer(place, Fit.NEVER, error.message, order, price)
    return Offer(place, found, reason, order, price_of(prices, place, demand), ahead)


async def _fit(engine: Asked, submission: Submission) -> tuple[Fit, str, int, Demand]:
    """Whether it fits, why, how many wait before it, and what it needs."""
    await engine.plan(submission)  # which raises why the place would not take it
    backend = engine.registry.get(submission.backend, submission.kubeconfig)
    first = elements(submission)[0] if submission.is_run else submission
    prepared = await prepare(first, backend)
    capabilities.release(backend, prepared.port)
    found, reason = await _room(engine, backend, prepared, submission)
    waits = await engine.reading.at(backend.name, WAITING, _MOST_AHEAD)
    # A task whose place is not chosen yet waits nowhere, whatever place its record has.
    waits = [record for record in waits if not is_undecided(record)]
    ahead = sum(record.priority >= submission.priority for record in waits)
    if found is Fit.NOW and ahead and not prepared.demand.is_empty:
        return Fit.LATER, waiting(ahead), ahead, prepared.demand
    return found, reason, ahead, prepared.demand


async def _room(
    engine: Asked, backend: Backend, prepared: Prepared, submission: Submission
) -> tuple[Fit, str]:
    if submission.oversubscribe:
        return Fit.NOW, "it starts whether there is room or not"
    if not backend.schedules:
        capacity = await asyncio.to_thread(capabilities.capacity, backend)
        return _on_machine(prepared, capacity, engine.free(backend, capacity))
    if not isinstance(backend, HasNodes):
        return Fit.UNKNOWN, "it does not tell how much room it has"
    try:
        nodes = await backend.nodes()
    except TrainwayError as error:
        return Fit.UNKNOWN, f"its nodes cannot be listed: {error.message}"
    demands = pod_demands(prepared.jobset, _apart(backend, prepared))
    begins_smaller = isinstance(backend, BeginsSmaller) and backend.begins_smaller
    return fit(demands, nodes, prepared.demand.elastic, begins_smaller=begins_smaller)


def _apart(backend: Backend, prepared: Prepared) -> dict[str, str]:
    """Which of its nodes share no machine at that place."""
    if isinstance(backend, SharesNodes) and backend.shares_nodes:
        return {}
    source, submitted = parted(prepared.objects)
    objects = [*submitted, *prepared.companions]
    return node_sharing.apart(source or prepared.jobset, prepared.jobset, objects)


def _on_machine(prepared: Prepared, capacity: Capacity, free: Capacity) -> tuple[Fit, str]:
    """Whether it fits on a machine whose queue is ours, where all of a gang runs together."""
    never = never_fits(prepared.demand, capacity)
    if never:
        return Fit.NEVER, f"it needs {never}"
    short = never_fits(prepared.demand, free)
    if short:
        return Fit.LATER, f"it needs {short} free now"
    return Fit.NOW, "all of it fits now"
