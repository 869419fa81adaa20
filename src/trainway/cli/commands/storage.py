"""`trainway storage`: the buckets that tasks have named."""

from typing import Final

import click

from trainway.cli.cluster_connection import confirm
from trainway.cli.connection import connect
from trainway.cli.job_options import output_option
from trainway.cli.listing import LISTINGS, echo_listing
from trainway.cli.output import echo
from trainway.errors import UsageError
from trainway.sdk.storage_rest import StorageRest

_FORGOTTEN: Final = "is no longer listed; it was there before its job, and stays"
_HEADER: Final = ("NAME", "STORE", "JOB", "UPDATED", "STATUS")


@click.group("storage")
def command() -> None:
    """List and delete the buckets that tasks have named in file_mounts.

    Buckets are made and removed with your own credentials; trainway data works with any bucket.
    """


@command.command("ls")
@output_option(LISTINGS)
def list_buckets(output: str) -> None:
    """List these buckets."""
    fields = ("name", "store", "job", "updated", "state")
    found = _connected().buckets()
    echo_listing(
        found,
        output,
        _HEADER,
        lambda each: [str(each[field]) for field in fields],
        none="there are no buckets; a task makes one with a name in its file_mounts",
    )


@command.command("delete")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("-a", "--all", "is_all", is_flag=True, help="Delete all of them.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask first.")
def delete_buckets(names: tuple[str, ...], is_all: bool, yes: bool) -> None:
    """Delete buckets and everything in them. One that was there before its job stays."""
    from trainway.sdk.buckets import chosen, delete  # noqa: PLC0415 - only to delete

    if bool(names) == is_all:
        raise UsageError("name the buckets, or give --all", hint="trainway storage ls lists them")
    rest = _connected()
    known = rest.buckets()
    buckets = known if is_all else chosen(known, names)
    if not buckets:
        return
    listed = ", ".join(str(bucket["uri"]) for bucket in buckets)
    if not confirm(f"Delete {listed} with everything in it?", yes=yes):
        return
    for bucket in buckets:
        is_gone = delete(rest, bucket)
        echo(f"{bucket['uri']} {'deleted' if is_gone else _FORGOTTEN}\n")


def _connected() -> StorageRest:
    return StorageRest(connect().transport)
