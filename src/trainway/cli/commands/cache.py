"""`trainway cache`: tables that are served to jobs."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from trainway.cli.cluster_options import yes_option
from trainway.cli.columns import Columns
from trainway.cli.job_options import output_option
from trainway.cli.output import echo, echo_line, to_json
from trainway.cli.usage_text import size as text_of_size

if TYPE_CHECKING:
    from trainway.sdk.caches import Cache

_APPLY: Final = """Serve a table to jobs.

\b
trainway cache apply NAME s3://bucket/train
trainway cache apply NAME ./train --workers 2
trainway cache apply NAME s3://lake/db/t/metadata/00007.metadata.json --on ssh/lab --workers 4

TABLE is a Parquet file, a folder with Parquet files, or the metadata file of an Iceberg table. The
cache is a job: a head, which jobs ask, and workers, which keep the rows on their disks. Several
jobs can read it at the same time, with trainway.data.torch.TableDataset or with Kubeflow's client.

If TRAINWAY_CACHE_TOKEN is set, only clients with the same token can read the cache.
"""
_COLUMNS: Final = (
    *("name", "status", "place", "workers", "size", "rows", "address", "table", "message"),
)


@click.group("cache")
def command() -> None:
    """Serve tables to jobs: one cache, many readers.

    Where a cache runs, Python needs the extra: pip install 'trainway[cache]'.
    """


@command.command("apply", help=_APPLY)
@click.argument("name", metavar="NAME")
@click.argument("table", metavar="TABLE")
@click.option(
    "--workers", type=click.IntRange(min=0, max=1000), default=0, show_default=True,
    help="How many workers keep the table; with 0, the head keeps it.",
)  # fmt: skip
@click.option(
    "--on", metavar="PLACE",
    help="Where to run the cache: local, ssh/POOL, slurm/CLUSTER or k8s/CONTEXT.",
)  # fmt: skip
@click.option(
    "--python", default="python3", show_default=True,
    help="The Python with trainway[cache], where the cache runs.",
)  # fmt: skip
@click.option("--image", default="", help="An image with trainway[cache]; pods need one.")
def apply_cache(
    name: str, table: str, workers: int, on: str | None, python: str, image: str
) -> None:
    """Make a cache, or leave the one that is there."""
    from trainway.data.flight.objects import CacheSpec  # noqa: PLC0415 - only here
    from trainway.sdk.caches import apply  # noqa: PLC0415 - only here
    from trainway.sdk.client import Client  # noqa: PLC0415 - only here

    wanted = CacheSpec(name, table, workers, image, python=python)
    made, is_new = apply(Client(), wanted, on)
    echo(f"cache {name} {'is starting' if is_new else 'is there already'}\n")
    where = made.address or "shown by trainway cache ls when it runs"
    echo(f"address: {where}\nlogs: trainway jobs logs {made.job.id}\n")


@command.command("ls")
@output_option(("table", "json", "name"))
def ls(output: str) -> None:
    """List the caches, and how far each one is."""
    from trainway.cli.connection import connect  # noqa: PLC0415 - only here
    from trainway.sdk.caches import caches  # noqa: PLC0415 - only here
    from trainway.sdk.client import Client  # noqa: PLC0415 - only here
    from trainway.sdk.storage_rest import StorageRest  # noqa: PLC0415 - only here

    found = caches(Client())
    if output == "name":
        echo("".join(f"{each.spec.name}\n" for each in found))
        return
    told = {each["job"]: each for each in StorageRest(connect().transport).caches()}
    rows = [_shown(each, told.get(each.job.id) or {}) for each in found]
    if output == "json":
        echo(to_json(rows))
    elif rows:
        header = tuple(name.upper() for name in _COLUMNS)
        echo(Columns(header).table([_cells(row) for row in rows]))
    else:
        echo_line("there are no caches")


@command.command("delete")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@yes_option
def delete_caches(names: tuple[str, ...], yes: bool) -> int:
    """Delete caches with what they keep; the tables themselves stay.

    Jobs that read a cache fail about five minutes after it is gone.
    """
    from trainway.cli.cluster_connection import confirm  # noqa: PLC0415 - only to ask
    from trainway.sdk.caches import delete  # noqa: PLC0415 - only here
    from trainway.sdk.client import Client  # noqa: PLC0415 - only here

    if not confirm(f"Delete {', '.join(names)}?", yes=yes):
        return 1
    client = Client()
    for name in names:
        delete(client, name)
        echo(f"cache {name} is deleted\n")
    return 0


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    """What people see of a cache; what is not known is empty."""
    size = "" if row["bytes"] is None else text_of_size(row["bytes"])
    known = {name: "" if value is None else str(value) for name, value in row.items()}
    return tuple({**known, "size": size}[name] for name in _COLUMNS)


def standing(seen: tuple[str, str], told: Mapping[str, Any], *, in_pods: bool) -> tuple[str, str]:
    """How a cache stands, as seen from here, or as its log says where it cannot be seen. Pure."""
    status, message = seen
    if status == "Loading" and in_pods:
        return status, told.get("message") or message  # and not how often the head ended
    if status == "Starting" and told.get("state") in ("Loading", "Ready"):
        return told["state"], told.get("message") or ""  # there is no way to its port from here
    return seen


def _shown(cache: "Cache", told: Mapping[str, Any]) -> dict[str, Any]:
    status, message = standing(cache.status(), told, in_pods=cache.spec.in_pods)
    return {
        "name": cache.spec.name,
        "status": status,
        "place": cache.backend,
        "workers": cache.spec.workers,
        "address": cache.address,
        "table": cache.spec.table,
        "job": cache.job.id,
        "message": message,
        **{name: told.get(name) for name in ("files", "bytes", "rows", "readers")},
    }
