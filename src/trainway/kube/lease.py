"""Leader election: of several operators one leads, as long as it renews its Lease.

Clocks of different machines are never compared. A candidate remembers when, by its own clock, it
saw the Lease change last, and takes it only when it stood still for the whole of its duration.
Two candidates that take it at once are told apart by the resourceVersion: one gets a conflict.
A leader stops itself before its Lease could expire for others.
"""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, TypeVar

from trainway.errors import TrainwayError
from trainway.json_types import Json
from trainway.kube.client import Client
from trainway.kube.errors import AlreadyExists, ApiError, Conflict, ObjectNotFound
from trainway.kube.resources import LEASES
from trainway.kube.timestamps import micro_timestamp

_JITTER: Final = 0.2
_SHORTEST_RELEASE_S: Final = 2.0

T = TypeVar("T")
logger = logging.getLogger(__name__)


class LeadershipLost(TrainwayError):  # noqa: N818 - an event, and the design's name
    """Another one leads, or the API server cannot be reached for too long."""

    code = "leadership_lost"


@dataclass(frozen=True, slots=True)
class Observation:
    """A Lease, and when we saw it change last by our own clock."""

    lease: Json
    changed_at: float

    @property
    def holder(self) -> str:
        """Who leads; empty: nobody."""
        return (self.lease.get("spec") or {}).get("holderIdentity") or ""

    @property
    def version(self) -> str:
        """Changes with each change."""
        return str(self.lease["metadata"].get("resourceVersion", ""))


def observed(before: Observation | None, lease: Json, now: float) -> Observation:
    """The Lease as read now; its time stays where it has not changed."""
    if before is not None and before.version == Observation(lease, now).version:
        return before
    return Observation(lease, now)


def may_take(observation: Observation, identity: str, now: float, lease_seconds: float) -> bool:
    """Whether the Lease is ours, is free, or has expired."""
    if observation.holder in ("", identity):
        return True
    said = (observation.lease.get("spec") or {}).get("leaseDurationSeconds") or lease_seconds
    return now - observation.changed_at >= said


def taken(
    lease: Json | None, namespace: str, name: str, identity: str, seconds: float, now: datetime
) -> Json:
    """The Lease as we want to have it, from the one that is there or anew."""
    old = (lease or {}).get("spec") or {}
    moment = micro_timestamp(now)
    is_ours = old.get("holderIdentity") == identity
    transitions = old.get("leaseTransitions") or 0
    spec = {
        **old,
        "holderIdentity": identity,
        "leaseDurationSeconds": max(1, round(seconds)),
        "renewTime": moment,
        "acquireTime": old.get("acquireTime", moment) if is_ours else moment,
        "leaseTransitions": transitions if is_ours or lease is None else transitions + 1,
    }
    metadata = {"name": name, "namespace": namespace} if lease is None else lease["metadata"]
    return {
        "apiVersion": LEASES.api_version,
        "kind": LEASES.kind,
        "metadata": metadata,
        "spec": spec,
    }


def released(lease: Json, now: datetime) -> Json:
    """The Lease with nobody to hold it."""
    moment = micro_timestamp(now)
    spec = {
        **lease["spec"],
        "holderIdentity": "",
        "leaseDurationSeconds": 1,
        "renewTime": moment,
        "acquireTime": moment,
    }
    return {**lease, "spec": spec}


class LeaderElection:
    """One candidate for a Lease."""

    def __init__(  # noqa: PLR0913 - independent choices, most with a default
        self,
        client: Client,
        namespace: str,
        name: str,
        identity: str,
        lease_seconds: float = 15,
        renew_seconds: float = 10,
        retry_seconds: float = 2,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        chance: Callable[[], float] = random.random,
    ) -> None:
        if not retry_seconds < renew_seconds < lease_seconds:
            raise ValueError("retry_seconds < renew_seconds < lease_seconds")
        self.is_leader = False
        self._client = client
        self._namespace = namespace
        self._name = name
        self._identity = identity
        self._lease_seconds = lease_seconds
        self._renew_seconds = renew_seconds
        self._retry_seconds = retry_seconds
        self._clock = clock
        self._now = now
        self._chance = chance
        self._seen: Observation | None = None
        self._is_current = False
        """Whether the Lease we saw is the newest, as far as we know."""
        self._renewed_at = float("-inf")

    @property
    def holder(self) -> str:
        """Who leads as far as we know."""
        return self._seen.holder if self._seen else ""

    async def lead(self, main: Callable[[], Awaitable[T]]) -> T:
        """Wait for the Lease, then run `main` for as long as we have it; gives what it gives.

        Raises LeadershipLost when the Lease is lost; `main` was cancelled then, and has ended.
        """
        await self._acquire()
        self.is_leader = True
        logger.info("%s leads %s/%s", self._identity, self._namespace, self._name)
        working = asyncio.ensure_future(main())
        renewing = asyncio.ensure_future(self._keep())
        try:
            await asyncio.wait({working, renewing}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                self.is_leader = False
                await renewing  # raises LeadershipLost
            return await working
        finally:
            await _cancelled(working)
            await _cancelled(renewing)
            if self.is_leader:
                self.is_leader = False
                await self._release()

    async def _acquire(self) -> None:
        while not await self._attempt(self._renew_seconds):
            await self._pause()

    async def _keep(self) -> None:
        """Renew until that fails for too long."""
        while True:
            await self._pause()
            left = self._renewed_at + self._renew_seconds - self._clock()
            if left > 0 and await self._attempt(left):
                continue
            if self.holder != self._identity:
                raise LeadershipLost(f"{self.holder or 'nobody'} holds the lease {self._name}")
            if self._clock() >= self._renewed_at + self._renew_seconds:
                raise LeadershipLost(
                    f"the lease {self._name} was not renewed for {self._renew_seconds:g} s"
                )

    async def _attempt(self, seconds: float) -> bool:
        """Take or renew the Lease once."""
        began = self._clock()
        try:
            async with asyncio.timeout(min(seconds, self._renew_seconds / 2)):
                if not await self._take():
                    return False
        except TimeoutError:
            logger.warning("lease %s/%s: no answer in time", self._namespace, self._name)
            self._is_current = False
            return False
        except (Conflict, AlreadyExists):
            self._is_current = False
            return False
        except TrainwayError as error:
            logger.warning("lease %s/%s: %s", self._namespace, self._name, error)
            self._is_current = False
            return False
        self._renewed_at = began
        return True

    async def _take(self) -> bool:
        """Whether we have the Lease now."""
        if not (self._seen is not None and self.is_leader and self._is_current):
            try:
                lease = await self._client.get(LEASES, self._name, self._namespace)
            except ObjectNotFound:
                wanted = self._wanted(None)
                self._note(await self._client.create(LEASES, wanted, self._namespace))
                return True
            self._note(lease)
        seen = self._seen
        if seen is None or not may_take(seen, self._identity, self._clock(), self._lease_seconds):
            return False
        self._note(await self._client.replace(LEASES, self._wanted(seen.lease)))
        return True

    async def _release(self) -> None:
        if self._seen is None or self._seen.holder != self._identity:
            return
        try:
            async with asyncio.timeout(max(_SHORTEST_RELEASE_S, self._retry_seconds)):
                lease = await self._client.get(LEASES, self._name, self._namespace)
                if (lease.get("spec") or {}).get("holderIdentity") == self._identity:
                    self._note(await self._client.replace(LEASES, released(lease, self._now())))
        except (ApiError, TimeoutError) as error:
            logger.warning("lease %s/%s was not released: %s", self._namespace, self._name, error)

    def _note(self, lease: Json) -> None:
        self._seen = observed(self._seen, lease, self._clock())
        self._is_current = True

    def _wanted(self, lease: Json | None) -> Json:
        return taken(
            lease, self._namespace, self._name, self._identity, self._lease_seconds, self._now()
        )

    async def _pause(self) -> None:
        await asyncio.sleep(self._retry_seconds * (1 + _JITTER * self._chance()))


async def _cancelled(task: asyncio.Future[T]) -> None:
    """Cancel a task and wait for its end."""
    task.cancel()
    await asyncio.wait({task})
    if not task.cancelled():
        task.exception()
