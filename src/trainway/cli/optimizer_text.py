"""What the optimizer chose, as tables and as JSON."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from trainway.cli.columns import Columns
from trainway.json_types import Json
from trainway.optimizer.candidates import of_all_nodes
from trainway.optimizer.own_machines import OwnOffer
from trainway.optimizer.plan import Choice, Plan
from trainway.optimizer.request import TaskRequest
from trainway.optimizer.rules import REASONS
from trainway.optimizer.search import RegionOffer, Search

_HEADER: Final = ("INFRA", "INSTANCE", "vCPUs", "Mem(GB)", "GPUS", "COST($)", "CHOSEN")


def as_json(plan: Plan, own: Sequence[Sequence[OwnOffer]]) -> Json:
    """The choices for programs; a price is that of one node, the last one that of all."""
    tasks = [
        {
            "name": choice.name,
            "chosen": {
                "cloud": choice.offer.machine.cloud,
                "instance_type": choice.offer.machine.name,
                "region": choice.offer.region,
                "zone": choice.offer.zone or None,
                "spot": choice.request.spot,
                "hourly_price": choice.node_price,
                "nodes": choice.request.nodes,
                **_reservation(choice),
            },
            "candidates": choice.candidates,
            **({"own": [_own_json(each) for each in offers]} if offers else {}),
        }
        for choice, offers in zip(plan.choices, own, strict=True)
    ]
    return {"tasks": tasks, "hourly_price": plan.hourly_price, "total_cost": plan.total_cost}


def as_table(
    choice: Choice, task: TaskRequest, search: Search, own: Sequence[OwnOffer] = ()
) -> str:
    """SkyPilot's table: the best of each cloud, and which of them was chosen."""
    nodes = choice.request.nodes
    heading = f"Considered resources ({nodes} node{'' if nodes == 1 else 's'}):\n"
    rows = [_row(choice, offer, search) for offer in _of_clouds(choice, task, search)]
    rows += [_own_row(offer) for offer in own]
    text = heading + Columns(_HEADER).table(rows)
    if own and float(own[0].hourly * own[0].request.nodes) <= choice.hourly_price:
        text += (
            f"{own[0].place} costs no more, if it has room: trainway plan says so, and trainway run"
            f" --on {own[0].place} takes it.\n"
        )
    if choice.candidates > len(rows) - len(own):
        text += f"{choice.candidates:,} offers fit; the table has the cheapest of each cloud.\n"
    for rule, count in search.left_out(choice.request).items():
        types = "1 machine type is" if count == 1 else f"{count} machine types are"
        text += f"{types} left out: {REASONS[rule]} (--allow {rule} takes them in).\n"
    return text + _refused(choice, search)


def _refused(choice: Choice, search: Search) -> str:
    """What is left out since it cannot do what the task asks for beside the machine."""
    request = choice.request
    text = "".join(
        f"{cloud} is left out: {reason}.\n" for cloud, reason in search.refused(request).items()
    )
    for name, without in (
        ("local_disk", replace(request, local_disk=None)),
        ("fast network", replace(request, fast_network=False)),
    ):
        count = search.machines(without) - search.machines(request) if without != request else 0
        if count:
            types = "1 machine type is" if count == 1 else f"{count} machine types are"
            text += f"{types} left out: no such {name} of theirs is known.\n"
    return text


def _reservation(choice: Choice) -> Json:
    return {} if choice.reservation is None else {"reservation": choice.reservation.id}


def _own_json(offer: OwnOffer) -> Json:
    price = float(offer.hourly)
    return {"place": offer.place, "hourly_price": price, "nodes": offer.request.nodes}


def _own_row(offer: OwnOffer) -> tuple[str, ...]:
    found = offer.request.accelerator
    gpus = f"{found.name}:{found.count:g}" if found else "-"
    cost = offer.hourly * offer.request.nodes
    cpus = offer.request.cpus
    shown = f"{cost:.4g}" if offer.hourly < 1 else f"{cost:.2f}"
    return offer.place, "(own)", "-" if cpus is None else f"{cpus.value:g}", "-", gpus, shown, ""


def _of_clouds(choice: Choice, task: TaskRequest, search: Search) -> list[RegionOffer]:
    """The best of each cloud over all requests that count; the chosen one is that of its cloud."""
    best: dict[str, RegionOffer] = {}
    requests = [choice.request] if task.is_ordered else task.requests
    for request in requests:
        for offer in search.clouds(request):
            known = best.get(offer.cloud)
            if known is None or of_all_nodes(offer) < of_all_nodes(known):
                best[offer.cloud] = offer
    cloud = choice.offer.machine.cloud
    best[cloud] = RegionOffer(
        *(cloud, choice.offer.region, choice.node_price, choice.request, 1), choice.reservation
    )
    return sorted(best.values(), key=lambda each: (of_all_nodes(each), each.cloud != cloud))


def _row(choice: Choice, found: RegionOffer, search: Search) -> tuple[str, ...]:
    is_chosen = found.place == (choice.offer.machine.cloud, choice.offer.region)
    offer = choice.offer if is_chosen else search.best(found)
    machine = offer.machine
    kind = "[spot]" if found.request.spot else "[reserved]" if found.reservation else ""
    gpus = f"{machine.accelerator}:{machine.accelerator_count:g}" if machine.accelerator else "-"
    return (
        f"{machine.cloud} ({offer.zone or offer.region})",
        f"{machine.name}{kind}",
        f"{machine.vcpus:g}" if machine.vcpus else "-",
        f"{machine.memory_gib:g}" if machine.memory_gib else "-",
        gpus,
        f"{of_all_nodes(found):.4g}" if found.hourly < 1 else f"{of_all_nodes(found):.2f}",
        "✔" if is_chosen else "",
    )
