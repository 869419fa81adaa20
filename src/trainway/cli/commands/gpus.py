"""`trainway gpus`: which accelerators clouds offer, and for how much."""

from collections.abc import Collection
from typing import Any, Final

import click

from trainway.api.accelerators import parse
from trainway.cli.catalog_reading import user_catalog
from trainway.cli.columns import Columns
from trainway.cli.job_options import output_option
from trainway.cli.output import echo, to_json
from trainway.errors import NotFoundError, UsageError
from trainway.optimizer.offers import AcceleratorOffer, accelerator_offers, accelerators
from trainway.schema.validation import closest

_LIST: Final = """List the accelerators of the catalog, or the offers of one of them.

\b
trainway gpus list                   every accelerator, and how many a machine has
trainway gpus list A100              the cheapest offer of each machine type that has it
trainway gpus list A100:8 --cloud aws --all-regions
"""
_SHOW: Final = """Show every offer of an accelerator, cheapest first.

\b
trainway gpus show H100:8
trainway gpus show H100:8 --cloud aws
"""
_HEADER: Final = (
    "GPU", "CLOUD", "INSTANCE", "vCPUs", "Mem(GB)", "$/HOUR", "$/HOUR SPOT", "REGION",
)  # fmt: skip


@click.group("gpus", help="Show which accelerators clouds offer, and for how much.")
def command() -> None:
    """The group; its commands are below."""


def _cloud_option(function: Any) -> Any:
    return click.option(
        "--cloud", "--infra", "cloud", metavar="CLOUD", help="Only offers of this cloud."
    )(function)


@command.command("list", help=_LIST)
@click.argument("name", metavar="[NAME[:COUNT]]", required=False)
@_cloud_option
@click.option("--all-regions", is_flag=True, help="Every region and zone, not only the cheapest.")
@output_option(("table", "json"))
def list_command(name: str | None, cloud: str | None, all_regions: bool, output: str) -> int:
    """The accelerators, or the offers of one."""
    if name is not None:
        return _offers(name, cloud, output, all_regions=all_regions)
    with user_catalog() as catalog:
        _check_cloud(cloud, catalog.clouds())
        found = accelerators(catalog, cloud)
    if output == "json":
        echo(to_json([{"name": each, "counts": counts} for each, counts in found.items()]))
    else:
        rows = [
            (each, ", ".join(f"{count:g}" for count in counts)) for each, counts in found.items()
        ]
        echo(Columns(("GPU", "COUNTS")).table(rows))
    return 0


@command.command("show", help=_SHOW)
@click.argument("name", metavar="NAME[:COUNT]")
@_cloud_option
@output_option(("table", "json"))
def show_command(name: str, cloud: str | None, output: str) -> int:
    """Every offer."""
    return _offers(name, cloud, output, all_regions=True)


def _offers(text: str, cloud: str | None, output: str, *, all_regions: bool) -> int:
    try:
        wanted = parse(text)
    except ValueError as error:
        raise UsageError(f"{text}: {error}") from error
    count = wanted.count if ":" in text else None
    with user_catalog() as catalog:
        _check_cloud(cloud, catalog.clouds())
        found = accelerator_offers(catalog, wanted.name, count, cloud, all_regions=all_regions)
        if not found:
            meant = closest(wanted.name, catalog.accelerators())
            hint = f"did you mean {meant}?" if meant else None
            if meant and meant.lower() == wanted.name.lower():
                hint = f"trainway gpus show {meant} lists what there is"
            where = f" of {cloud}" if cloud else ""
            raise NotFoundError(f"the catalog has no offer{where} with {text}", hint=hint)
    if output == "json":
        echo(to_json([each.to_dict() for each in found]))
    else:
        echo(Columns(_HEADER).table([_row(each) for each in found]))
    return 0


def _check_cloud(cloud: str | None, clouds: Collection[str]) -> None:
    if cloud is None or cloud in clouds:
        return
    meant = closest(cloud, clouds)
    hint = f"did you mean {meant}?" if meant else f"it has {', '.join(clouds)}"
    raise NotFoundError(f"the catalog has no cloud {cloud!r}", hint=hint)


def _row(each: AcceleratorOffer) -> tuple[str, ...]:
    machine = each.offer.machine
    return (
        f"{machine.accelerator}:{machine.accelerator_count:g}",
        machine.cloud,
        machine.name,
        f"{machine.vcpus:g}" if machine.vcpus else "-",
        f"{machine.memory_gib:g}" if machine.memory_gib else "-",
        _price(each.offer.price),
        _price(each.offer.spot_price),
        each.offer.zone or each.offer.region,
    )


def _price(price: float | None) -> str:
    return "-" if price is None else f"{price:.3f}"
