"""The clouds as the engine calls them: in threads, and none before it is needed."""

import asyncio
import logging
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final, ParamSpec, TypeVar, cast

from trainway.engine.rental.record import Attempt
from trainway.errors import TrainwayError
from trainway.providers import registry
from trainway.providers.base import Ability, Identity, Provider, TellsEnds, TellsWhoEnded
from trainway.providers.errors import ProviderError, Scope, Trouble

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

_THREADS: Final = 32
"""How many calls are under way at once; each waits for its cloud."""
_MOST_REFUSALS: Final = 100


@dataclass(frozen=True)
class Checked:
    """What a check of the credentials of a cloud came to."""

    cloud: str
    identity: Identity | None = None
    """None: they are no good, or there are none."""
    regions: tuple[str, ...] = ()
    problem: str = ""
    hint: str = ""
    missing: Mapping[Ability, str] | None = None
    """What its provider cannot do, and why; None: it has none that can be loaded."""


class Clouds:
    """All clouds of which machines can be rented."""

    def __init__(
        self,
        provider: Callable[[str], Provider] = registry.provider,
        names: Callable[[], list[str]] = registry.names,
    ) -> None:
        self._make = provider
        self.names = names
        self._providers: dict[str, Provider] = {}
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        """By cloud: who makes its provider."""
        self.refusals: deque[Attempt] = deque(maxlen=_MOST_REFUSALS)
        """What clouds have refused since this server began, oldest first."""
        self._is_open = False

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        self._is_open = True
        return ThreadPoolExecutor(_THREADS, "clouds")

    def close(self) -> None:
        """Begin no further call; those that are under way end by themselves."""
        if self._is_open:
            self._threads.shutdown(wait=False, cancel_futures=True)

    async def work(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do something slow in a thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, partial(work, *args, **kwargs))

    async def call(self, method: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a provider in a thread; whatever it raises is a ProviderError."""
        try:
            return await self.work(method, *args, **kwargs)
        except ProviderError:
            raise
        except Exception as error:
            log.exception("a provider has failed")
            raise _unexpected(error, Scope.ZONE) from error

    async def provider(self, cloud: str) -> Provider:
        """The provider of a cloud; a ProviderError says why there is none.

        There is one, however many ask at the same time: a client of AWS alone takes 25 MB.
        """
        async with self._turns[cloud]:
            if cloud not in self._providers:
                try:
                    self._providers[cloud] = await self.work(self._make, cloud)
                except ProviderError:
                    raise
                except Exception as error:
                    raise _unexpected(error, Scope.CLOUD) from error
            return self._providers[cloud]

    async def ends(
        self, provider: Provider, region: str, machines: Sequence[str]
    ) -> Mapping[str, str]:
        """When machines have stopped or ended, as far as their cloud says it."""
        if not machines or not hasattr(provider, "ends"):
            return {}
        try:
            return await self.call(cast("TellsEnds", provider).ends, region, machines)
        except ProviderError as error:
            log.info("%s does not say when machines have ended: %s", provider.cloud, error)
            return {}

    async def ended_by_others(
        self, provider: Provider, region: str, machines: Sequence[str]
    ) -> Mapping[str, str]:
        """Machines that are gone and that their cloud has not taken, as far as it says so."""
        if not machines or not hasattr(provider, "ended_by_others"):
            return {}
        try:
            ask = cast("TellsWhoEnded", provider).ended_by_others
            return await self.call(ask, region, machines)
        except ProviderError as error:
            log.info("%s does not say who has ended machines: %s", provider.cloud, error)
            return {}

    async def check(self, cloud: str) -> Checked:
        """See who we are at a cloud, and where we may have machines."""
        missing = None
        try:
            provider = await self.provider(cloud)
            missing = provider.missing()
            identity = await self.call(provider.check)
            regions = await self.call(provider.regions)
        except ProviderError as error:
            return Checked(cloud, problem=error.message, hint=error.hint or "", missing=missing)
        return Checked(cloud, identity, tuple(regions), missing=missing)


def _unexpected(error: Exception, scope: Scope) -> ProviderError:
    """What a provider should have said better."""
    message, hint = f"{type(error).__name__}: {error}", ""
    if isinstance(error, TrainwayError):
        message, hint = error.message, error.hint or ""
    return ProviderError(message, trouble=Trouble.OTHER, scope=scope, hint=hint)
