"""`trainway clouds`: whose credentials there are, and machines that nobody needs any more."""

from typing import Final

import click

from trainway.cli.cluster_connection import confirm
from trainway.cli.connection import connect
from trainway.cli.job_options import output_option
from trainway.cli.listing import LISTINGS, echo_listing
from trainway.cli.output import echo, echo_line, to_json
from trainway.errors import NotFoundError, UnavailableError, UsageError
from trainway.json_types import Json
from trainway.sdk.cloud_rest import CloudRest

_CHECK: Final = ("CLOUD", "USABLE", "ACCOUNT", "USER", "CREDENTIALS", "REGIONS")
_SWEEP: Final = ("MACHINE", "CLOUD", "REGION", "TYPE", "CLUSTER", "STATE")


@click.group("clouds")
def command() -> None:
    """Check clouds, and end rented machines that nobody needs."""


@command.command("check")
@click.argument("names", metavar="[CLOUD]...", nargs=-1)
@output_option(LISTINGS)
def check(names: tuple[str, ...], output: str) -> None:
    """See whether machines can be rented: whose credentials there are, and what is missing.

    With names, the command fails unless all of these clouds can be used.
    """
    known = _connected().clouds()
    wanted = [name.lower() for name in names]
    for name in wanted:
        if all(each["name"] != name for each in known):
            there = ", ".join(str(each["name"]) for each in known)
            raise NotFoundError(f"there is no cloud {name!r}", hint=f"clouds: {there}")
    found = [each for each in known if not wanted or each["name"] in wanted]
    echo_listing(found, output, _CHECK, _row)
    unusable = [each for each in found if not each["usable"]]
    if output == "table":
        for each in unusable:
            hint = f" ({each['hint']})" if each["hint"] else ""
            echo(f"{each['name']}: {each['problem']}{hint}\n")
    if wanted and unusable:
        cannot = ", ".join(str(each["name"]) for each in unusable)
        raise UnavailableError(f"no machines can be rented of {cannot}")


@command.command("sweep")
@click.option("--dry-run", is_flag=True, help="List them, and end none.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask first.")
@output_option(("table", "json"))
def sweep(dry_run: bool, yes: bool, output: str) -> None:
    """End machines that this server has made and does not know any more.

    Only machines that carry the id of this server are looked at, in all regions of all clouds whose
    credentials are good, and those of its clusters are left alone.
    """
    if dry_run and yes:
        raise UsageError("--dry-run ends nothing, so there is nothing to say --yes to")
    rest = _connected()
    report = rest.sweep(dry_run=True)
    _echo_problems(report)
    if not report["places"]:
        raise UnavailableError(
            "no cloud could be looked at", hint="trainway clouds check says why for each"
        )
    if output == "table":
        _echo_machines(report)
    if not dry_run and report["machines"] and confirm(_question(report), yes=yes):
        report = rest.sweep(dry_run=False)
        if output == "table":
            _echo_ended(report)
    if output == "json":
        echo(to_json(report))
    left = [each for each in report["machines"] if each["problem"]]
    if left:
        raise UnavailableError(
            f"{len(left)} could not be ended: {left[0]['problem']}", hint="sweep again later"
        )


def _row(cloud: Json) -> list[str]:
    fields = ("name", "account", "user", "source")
    name, account, user, source = (str(cloud[field]) for field in fields)
    return [name, "yes" if cloud["usable"] else "no", account, user, source, _count(cloud)]


def _count(cloud: Json) -> str:
    return str(len(cloud["regions"])) if cloud["usable"] else ""


def _question(report: Json) -> str:
    count = len(report["machines"])
    return "End this machine?" if count == 1 else f"End these {count} machines?"


def _echo_problems(report: Json) -> None:
    for problem in report["problems"]:
        echo_line(f"warning: not looked at: {problem}")


def _echo_machines(report: Json) -> None:
    if not report["machines"]:
        count = len(report["places"])
        echo(f"no machine is left over in {'1 region' if count == 1 else f'{count} regions'}\n")
        return
    fields = ("id", "cloud", "region", "instanceType", "cluster", "state")
    rows = report["machines"]
    echo_listing(rows, "table", _SWEEP, lambda each: [str(each[field]) for field in fields])


def _echo_ended(report: Json) -> None:
    for each in report["machines"]:
        told = "ended" if each["ended"] else f"not ended: {each['problem']}"
        echo(f"{each['id']} {told}\n")


def _connected() -> CloudRest:
    return CloudRest(connect().transport)
