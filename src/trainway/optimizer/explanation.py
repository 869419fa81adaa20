"""Why nothing fits: the one thing that would have to be otherwise. Pure but for the catalog."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from trainway.api.task.infra import Infra
from trainway.optimizer.request import Request
from trainway.optimizer.search import Search
from trainway.schema.validation import closest

_ID_OF_A_ZONE: Final = re.compile(r"[a-z0-9-]+-az[0-9]+")
"""How AWS calls a zone in every account: which of them is us-east-1a differs."""


def why_nothing(search: Search, request: Request) -> str:
    """What keeps a request from having an offer."""
    return next(_reasons(search, request), "no machine has all of that together")


def _reasons(search: Search, request: Request) -> Iterator[str]:
    accelerator = request.accelerator
    if accelerator is not None and request.accelerator_gib is None:
        counts = search.counts_of(accelerator.name)
        if not counts:
            meant = closest(accelerator.name, search.accelerators())
            hint = f"; did you mean {meant}?" if meant else ""
            yield f"there is no accelerator {accelerator.name}{hint}"
        elif accelerator.count not in counts:
            offered = ", ".join(f"{count:g}" for count in counts)
            yield f"a machine has {offered} of {accelerator.name}, not {accelerator.count:g}"
    yield from _wrong_region(search, request.infra)
    yield from _wrong_zone(search, request)
    left_out = search.left_out(request)
    if left_out:
        rule = max(left_out, key=lambda each: left_out[each])
        yield f"what would do is left out as {rule} (use --allow {rule})"
    for cloud, reason in search.refused(request).items():
        yield f"{cloud} is left out: {reason}"
    for words, without in _relaxed(request):
        if search.machines(without):
            yield words


def _wrong_region(search: Search, infra: Infra) -> Iterator[str]:
    """Say that a cloud has no region of that name."""
    known = search.regions_of(infra.cloud) if infra.cloud and infra.region else []
    if known and infra.region not in known:
        meant = closest(infra.region or "", known)
        hint = f"; did you mean {meant}?" if meant else ""
        yield f"{infra.cloud} has no region {infra.region} in the catalog{hint}"


def _wrong_zone(search: Search, request: Request) -> Iterator[str]:
    """Say in which zone of the region it would be, since the names of zones are easily mistaken."""
    infra = request.infra
    if infra.zone is None or infra.region is None:
        return
    elsewhere = replace(request, infra=replace(infra, zone=None))
    for found in search.regions(elsewhere)[:1]:
        zone = search.best(found).zone
        words = f"{infra} has none, but {found.cloud}/{found.region} has"
        if zone:
            words += f", for example in {zone}"
        if _ID_OF_A_ZONE.fullmatch(zone) and not _ID_OF_A_ZONE.fullmatch(infra.zone):
            words += f" (this catalog has the ids of zones, not names such as {infra.zone})"
        yield words


def _relaxed(request: Request) -> Iterator[tuple[str, Request]]:
    """The request without one of its conditions, and what to say if that is the one."""
    if request.max_hourly_cost is not None:
        words = f"nothing costs at most ${request.max_hourly_cost:g} an hour"
        yield words, replace(request, max_hourly_cost=None)
    if request.infra != Infra():
        yield f"{request.infra} has none", replace(request, infra=Infra())
    if request.spot:
        yield "it cannot be had as spot", replace(request, spot=False)
    if request.regions is not None:
        yield "it is in no region that has an image", replace(request, regions=None)
    if request.local_disk is not None:
        words = f"no such machine is known to have a local_disk of {request.local_disk}"
        if request.local_disk.size is not None and not request.local_disk.size.at_least:
            words += f" ({request.local_disk}+ takes larger ones too)"
        yield words, replace(request, local_disk=None)
    if request.fast_network:
        words = "no such machine is known to have a fast network (network_tier: best)"
        yield words, replace(request, fast_network=False)
    if request.disk_tier is not None:
        words = f"no such machine takes disks of disk_tier {request.disk_tier}"
        yield words, replace(request, disk_tier=None)
    if request.memory is not None:
        yield "no such machine has that much memory", replace(request, memory=None)
    if request.cpus is not None:
        yield "no such machine has that many CPUs", replace(request, cpus=None)
    if request.instance_type is not None:
        words = f"there is no such instance type as {request.instance_type}"
        yield words, replace(request, instance_type=None)
