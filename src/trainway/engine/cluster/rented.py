"""Clusters on rented machines: they are rented first, then the cluster is held on them as on hosts.

The ledger of rentals says what there is, and outlives every step in between. A cluster whose
machines cannot be had is stopped, and says why: it costs nothing, and starting it tries again.
"""

import asyncio
import json
import logging
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TypeAlias
from weakref import WeakValueDictionary

from trainway.api.task import amounts
from trainway.api.task import resources as task_resources
from trainway.api.task.infra import Infra
from trainway.counting import counted
from trainway.engine.background import Background
from trainway.engine.backoff import Backoff
from trainway.engine.cluster.agents import Agents, host_name
from trainway.engine.cluster.book import ClusterBook
from trainway.engine.cluster.lending import LOOK_S, Lending
from trainway.engine.cluster.record import ClusterRecord, State
from trainway.engine.cluster.rental_view import rental_view
from trainway.engine.cluster.rented_hosts import (
    devices,
    forget_hosts,
    measured,
    told_hosts,
    told_notices,
)
from trainway.engine.cluster.unattended import ends_by_shutdown, explanation, terms
from trainway.engine.costs.metering import metered
from trainway.engine.costs.rate import Columns
from trainway.engine.rental.choice import Chosen
from trainway.engine.rental.errors import NoOfferError
from trainway.engine.rental.interruption import Interruption, interruption
from trainway.engine.rental.office import RentalOffice
from trainway.engine.rental.record import Rental, RentalState
from trainway.engine.rental.rentals import Rentals
from trainway.engine.rental.terms import Terms
from trainway.engine.rental.watch import ChangeKind, RentalChange
from trainway.errors import (
    ConflictError,
    DatabaseError,
    NotFoundError,
    TrainwayError,
    UnavailableError,
)
from trainway.families.clouds import ANY
from trainway.families.table import family_of
from trainway.json_types import Json
from trainway.optimizer.request import TaskRequest, machine_images, request
from trainway.providers.base import JobCredentials
from trainway.providers.section import CloudSettings

log = logging.getLogger(__name__)

_BOOT_LIMIT_S: Final = 600.0
"""How long machines may take until ssh leads to them."""
_STILL: Final = (RentalState.STOPPED, RentalState.STOPPING, RentalState.STARTING)
RENTED: Final = "rented"
"""Where what was asked for stands in the resources of a cluster."""
Drain: TypeAlias = Callable[[ClusterRecord, Rental], Awaitable[None]]
"""Ends the jobs on machines of a cluster that their cloud takes back."""


class RentError(ConflictError):
    """Machines of a cluster could not be had."""

    code = "rent"


class RentedClusters:
    """Looks after the machines of clusters."""

    def __init__(
        self,
        book: ClusterBook,
        office: Callable[[], RentalOffice],
        drain: Drain,
        boot_limit_s: float = _BOOT_LIMIT_S,
    ) -> None:
        self._book = book
        self._drain = drain
        self._office = office
        self._boot_limit_s = boot_limit_s
        self._background = Background()
        self._lending = Lending(book, self._job_credentials)
        self._renewing: asyncio.Task[None] | None = None
        self._releasing: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._listens = False

    @property
    def _rentals(self) -> Rentals:
        rentals = self._office().rentals
        if not self._listens:
            self._listens = True
            rentals.subscribe(self._heard)
        return rentals

    @property
    def _agents(self) -> Agents:
        return self._book.agents

    async def bring(self, record: ClusterRecord) -> ClusterRecord:
        """Have machines for a cluster, rented or started; the cluster as it is with them."""
        try:
            rental = await self._running(record)
            if record.name not in self._book.records:  # taken down meanwhile
                await self._rentals.end(record.name)
                raise ConflictError(f"cluster {record.name} was taken down")
            columns = await self._bill(record.name)
            await self._book.change(record.name, message="its machines are starting", **columns)
            ours = [host_name(record.name, machine.rank) for machine in rental.machines]
            hosts = await self._hosts_of(record.pool)
            found = await self._agents.reach(record.pool, hosts, ours, self._boot_limit_s)
            found.sort(key=lambda host: ours.index(str(host["name"])))
            await self._take_pods(record, found)
            await self._lending.lend(record, rental)
            self._renew()
        except (NoOfferError, NotFoundError, ConflictError) as error:
            raise await self._given_up(record, error.message) from error
        except UnavailableError as error:
            await self.release(record, stop=True)
            raise await self._given_up(record, error.message) from error
        resources = json.loads(record.resources) | measured(record, found).to_dict()
        columns = {
            "infra": rental.infra,
            "resources": json.dumps(resources),
            "devices": json.dumps(devices(found)),
            "message": "",
        }
        await self._book.change(record.name, **columns)
        return self._book.records.get(record.name, record).changed(columns)

    async def _take_pods(self, record: ClusterRecord, hosts: Sequence[Json]) -> None:
        """Let machines take pods whose names were those of others that were taken."""
        for host in hosts:
            if host.get("drained"):
                await self._agents.ask(record.pool, "drain", record.name, host=host["name"])

    async def _hosts_of(self, pool: str) -> list[Json]:
        """The machines of all clusters that an agent keeps."""
        hosts, key = list[Json](), self._office().ssh_key()
        for record in [each for each in self._book.records.values() if each.pool == pool]:
            rental = self._rentals.find(record.name)
            if rental is not None and rental.machines:  # another worker may be in the making
                unattended = await self._unattended(record, rental)
                address = self._settings(rental).metadata_address
                hosts += told_hosts(rental, key, unattended, address)
        return hosts

    async def _job_credentials(self, rental: Rental) -> JobCredentials | None:
        settings = self._settings(rental).values
        return await self._rentals.job_credentials(rental, settings)

    def _renew(self) -> None:
        """Give jobs other credentials before they expire, for as long as anything is rented."""
        if self._renewing is None or self._renewing.done():
            self._renewing = self._background.spawn(self._keep_renewing())

    async def _keep_renewing(self) -> None:
        while rentals := self._rentals.all():
            await self._lending.renew(rentals)
            await asyncio.sleep(LOOK_S)

    def _settings(self, rental: Rental) -> CloudSettings:
        return self._office().settings().get(rental.cloud) or CloudSettings()

    async def _unattended(self, record: ClusterRecord, rental: Rental) -> Json | None:
        """On which terms machines shut themselves down."""
        effect = await self._rentals.shutdown_effect(rental)
        return terms(record, rental, effect, self._settings(rental))

    async def _running(self, record: ClusterRecord) -> Rental:
        name, known = record.name, self._rentals.find(record.name)
        if known is not None and known.state in _STILL:
            return await self._rentals.resume(name)
        return await self._rentals.rent(name, *self._wish(record), self._told)

    def _wish(self, record: ClusterRecord) -> tuple[TaskRequest, Terms]:
        office = self._office()
        return wish(record, office.ssh_key().public, office.settings())

    async def check(self, record: ClusterRecord) -> None:
        """Raise at once where no cloud offers what a cluster is to have."""
        if is_rented(record.infra):
            await self._rentals.offer(*self._wish(record))

    async def offer(self, record: ClusterRecord) -> Chosen:
        """What would be rented first, of a cloud that can be used; raises why there is nothing."""
        return await self._rentals.usable_offer(*self._wish(record))

    async def _told(self, rental: Rental) -> None:
        """Let people see what is being tried."""
        before = f" (tried before: {len(rental.history)})" if rental.history else ""
        message = f"renting {counted(rental.nodes, 'machine')}: {rental.place}{before}"
        await self._book.note(rental.cluster, message=message)

    async def _given_up(self, record: ClusterRecord, why: str) -> RentError:
        """It is stopped, since it has nothing."""
        if record.name in self._book.records:
            columns = {"state": State.STOPPED, "placed": "[]", "message": why}
            await self._book.note(record.name, **columns)
        return RentError(why, hint=f"trainway start {record.name} tries again")

    async def release(self, record: ClusterRecord, *, stop: bool) -> None:
        """Stop the machines of a cluster, or give them back; others have none.

        Whoever comes second waits, since a bill is written only when machines are gone.
        """
        if not is_rented(record.infra):
            return
        async with self._releasing.setdefault(record.name, asyncio.Lock()):
            if self._rentals.find(record.name) is not None:
                if stop and record.held and not await self._rentals.why_not_stopped(record.name):
                    await self._rentals.stop(record.name)
                else:
                    await self._rentals.end(record.name)
                    forget_hosts(self._office().ssh_key(), self._rentals.all())
            await self._note_bill(record.name)

    async def _note_bill(self, name: str) -> None:
        """Write what a cluster costs, now or as soon as it can be."""
        try:
            columns = await self._bill(name)
        except DatabaseError as error:
            log.warning("cluster %s: what it costs is written later: %s", name, error)
            self._background.spawn(self._note_bill_later(name))
            return
        if columns and name in self._book.records:
            await self._book.note(name, **columns)

    async def _note_bill_later(self, name: str) -> None:
        await Backoff().wait()
        await self._note_bill(name)

    async def _bill(self, name: str) -> Columns:
        """What of its bill is to be written, as the ledger has its machines."""
        record = self._book.records.get(name)
        if record is None:
            return {}
        rentals = await self._rentals.all_of(name, record.launched)
        return metered(self._book.records.get(name, record), rentals)

    async def refuse_stop(self, record: ClusterRecord) -> None:
        """Raise for a cluster whose machines can only be given back."""
        if is_rented(record.infra) and (why := await self._rentals.why_not_stopped(record.name)):
            raise ConflictError(
                f"cluster {record.name} cannot be stopped: {why}",
                hint=f"use trainway down {record.name} to give its machines back",
            )

    def interruption(self, name: str) -> Interruption | None:
        """That a cloud takes machines of a cluster back; None: it does not."""
        office = self._office()
        rental = office.rentals.find(name) if office.is_open else None
        return None if rental is None else interruption(rental)

    async def taken(self, record: ClusterRecord) -> Interruption | None:
        """The same of one that may be gone by now, after its cloud was asked."""
        return await self._rentals.taken(record.name, record.launched)

    async def hear(self, record: ClusterRecord, nodes: Sequence[Json]) -> None:
        """Take in what machines were told themselves of being taken, as their agent says."""
        told = {str(each["host"]): each["notice"] for each in nodes if each.get("notice")}
        known = self._rentals.find(record.name) if told and is_rented(record.infra) else None
        if known is not None:
            await self._rentals.hear(record.name, told_notices(known, told))

    async def _heard(self, change: RentalChange) -> None:
        """Something has happened to machines without us."""
        name, rental = change.rental.cluster, change.rental
        record = self._book.records.get(name)
        if record is None:
            return
        why = f": {change.why}" if change.why else ""
        if change.kind in (ChangeKind.NOTICE, ChangeKind.GONE):
            await self._book.note(name, message=f"{rental.cloud} {change.words}")
            await self._drain(record, rental)
            await self._note_bill(name)
            return
        await self._have_gone(record, rental, why, is_gone=change.kind is ChangeKind.ENDED)

    async def _have_gone(
        self, record: ClusterRecord, rental: Rental, why: str = "", *, is_gone: bool = True
    ) -> None:
        """All machines of a cluster have stopped, or are gone: so has the cluster."""
        await self._drain(record, rental)
        taken = interruption(rental) if is_gone else None
        if taken is not None:
            why = f": {taken.words}"
        with suppress(TrainwayError):  # config.yaml may be broken now
            why += explanation(record, await self._unattended(record, rental))
        message = f"its machines {'are gone' if is_gone else 'have stopped'}{why}"
        with suppress(TrainwayError):  # its agent may be gone with them
            released = {"stop": True, "message": message}
            await self._agents.ask(record.pool, "release", record.name, **released)
        columns = {"state": State.STOPPED, "devices": "", "placed": "[]", "message": message}
        await self._book.note(record.name, **columns)
        await self._note_bill(record.name)

    async def released(self, record: ClusterRecord) -> None:
        """A cluster has stopped by itself, or is gone: so are its machines.

        They may have stopped before it, while no server was there: then it says so.
        """
        if is_rented(record.infra):
            known = self._rentals.find(record.name)
            if known is not None and known.state is RentalState.RUNNING:
                await self._rentals.look()
            await self.release(record, stop=record.state == State.STOPPED)

    def begin(self) -> None:
        """Look in the background whether clusters have stopped or gone without a server."""
        if self._office().is_open:
            self._background.spawn(self._reconcile())
            self._renew()

    async def close(self) -> None:
        """Leave all as it is to the next server."""
        await self._background.close()

    async def _reconcile(self) -> None:
        """Release what clusters do not want any more."""
        await asyncio.to_thread(self._agents.tidy)
        forget_hosts(self._office().ssh_key(), self._rentals.all())
        for rental in self._rentals.all():
            record = self._book.records.get(rental.cluster)
            if record is None:
                await self._rentals.end(rental.cluster)
            elif record.state == State.STOPPED and rental.state is RentalState.RUNNING:
                await self.release(record, stop=True)
            elif rental.state is RentalState.RUNNING:  # maybe nobody was told of a notice
                await self._drain(record, rental)
        for record in list(self._book.records.values()):
            if is_rented(record.infra):  # a server may have been killed before it wrote the bill
                await self._note_bill(record.name)
                await self._note_end(record)

    async def _note_end(self, record: ClusterRecord) -> None:
        """Stop a cluster whose machines are all gone, if a server was killed before it did."""
        if record.state == State.UP and self._rentals.find(record.name) is None:
            for rental in (await self._rentals.all_of(record.name, record.launched))[-1:]:
                await self._have_gone(record, rental)

    def view(self, record: ClusterRecord) -> Json | None:
        """What is rented for a cluster, as the API shows it."""
        if not is_rented(record.infra):
            return None
        found = self._rentals.find(record.name)
        return None if found is None else rental_view(found)


def is_rented(infra: str) -> bool:
    """Whether machines are rented there."""
    return family_of(infra).rents


def asked(infra: str, resources: Json, terms: Json) -> Json:
    """What is remembered of a request for rented machines, beside the shape of the cluster."""
    return {RENTED: {"infra": infra, "resources": resources, "terms": terms}}


def wish(
    record: ClusterRecord, public_key: str, settings: Mapping[str, CloudSettings]
) -> tuple[TaskRequest, Terms]:
    """What is to be rented for a cluster, as it was asked for."""
    data: Json = json.loads(record.resources)[RENTED]
    found = task_resources.read(data["resources"])
    requests = tuple(request(each, record.nodes) for each in found.candidates)
    wanted = TaskRequest(record.name, requests, is_ordered=found.is_ordered)
    cloud, region, zone = (*data["infra"].split("/"), None, None)[:3]
    place = Infra(None if cloud == ANY else cloud, None if region == "*" else region, zone)
    if place != Infra():
        wanted = wanted.at([place])
    first, images = found.first.fields, machine_images(found.first.fields.get("image_id"))
    asks = requests[0]
    terms: dict[str, Any] = {
        "ports": tuple(str(port) for port in _listed(first.get("ports"))),
        "image": images.pop("", ""),
        "images": images,
        "disk_gib": math.ceil(amounts.gigabytes(first.get("disk_size") or 0)),
        "disk_tier": asks.disk_tier or "",
        "ends_by_shutdown": ends_by_shutdown(record),
        "fast_network": asks.fast_network,
        "labels": {str(key): str(value) for key, value in asks.labels},
        **data["terms"],
    }
    return wanted, Terms(public_key=public_key, settings=settings, **terms)


def _listed(value: Any) -> list[Any]:
    return [] if value is None else list(value) if isinstance(value, list) else [value]
