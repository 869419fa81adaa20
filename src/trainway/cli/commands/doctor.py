"""`trainway doctor`: what is installed and reachable, and how to mend what is not."""

import os
import platform
import sys
from collections.abc import Iterator
from typing import Final

import click

from trainway import __version__
from trainway.cli.colours import GREEN, RED, is_colourful, painted
from trainway.cli.connection import connect
from trainway.cli.job_options import output_option
from trainway.cli.output import echo, to_json, to_yaml
from trainway.counting import counted
from trainway.errors import TrainwayError
from trainway.json_types import Json
from trainway.sdk.address import Home, configured_address
from trainway.sdk.ssh_agent import lend

_MARKS: Final = {True: "ok", False: "no"}


@click.command("doctor")
@click.option("--deep", is_flag=True, help="Also run a short job on every Slurm cluster.")
@click.option("--any", "anywhere", is_flag=True, help="Succeed if jobs can run anywhere at all.")
@output_option(("table", "json", "yaml"))
def command(output: str, *, deep: bool, anywhere: bool) -> int:
    """Check the server and every backend.

    It says what works, and how to fix what does not. Exit status: 0 if every check says ok, or
    with --any if jobs can run somewhere; else 1.
    """
    report = _report(deep=deep)
    if output == "json":
        echo(to_json(report))
    elif output == "yaml":
        echo(to_yaml([report]))
    else:
        colourful = is_colourful(sys.stdout)
        echo("".join(f"{line}\n" for line in report_lines(report, colourful=colourful)))
    usable = [all(check["ok"] for check in item["checks"]) for item in report["backends"]]
    is_well = report["server"]["ok"] and bool(usable) and all(usable)
    return 0 if is_well or (anywhere and any(usable)) else 1


def _report(*, deep: bool) -> Json:
    home = Home.of_environment()
    report: Json = {
        "version": __version__,
        "python": platform.python_version(),
        "home": str(home.path),
        "server": {"name": "server", "ok": True, "detail": "", "fix": ""},
        "backends": [],
    }
    try:
        rest = connect()
        lend(home.path, os.environ)
        info = rest.server()
        report["server"]["detail"] = f"version {info['version']} at {rest.address}"
        report["backends"] = rest.backends(deep=deep)
    except TrainwayError as error:
        where = configured_address() or home.path
        fix = error.hint or f"see what is wrong with {where}"
        report["server"] |= {"ok": False, "detail": error.message, "fix": fix}
    return report


def report_lines(report: Json, *, colourful: bool) -> Iterator[str]:
    """A report as a person reads it."""
    yield f"trainway {report['version']}, Python {report['python']}, home {report['home']}"
    yield from _check_lines(report["server"], colourful=colourful)
    for backend in report["backends"]:
        yield ""
        yield f"{backend['name']}{_capacity(backend.get('capacity'))}"
        yield from _pool_lines(backend.get("capacity") or {})
        for check in backend["checks"]:
            yield from _check_lines(check, colourful=colourful)
        for feature, reason in (backend.get("capabilities") or {}).items():
            if reason:
                yield f"      no {feature}: {reason}"


def _check_lines(check: Json, *, colourful: bool) -> Iterator[str]:
    mark = _MARKS[bool(check["ok"])]
    if colourful:
        mark = painted(mark, GREEN if check["ok"] else RED)
    yield f"  {mark}  {check['name']}: {check['detail']}"
    if check.get("fix"):
        yield f"      {check['fix']}"


def _capacity(capacity: Json | None) -> str:
    """What of the whole is free: `: 6 of 8 CPUs, 20.0 of 32.0 GiB memory free`."""
    if not capacity:
        return ""
    total, free = capacity["total"], capacity["free"]
    memory = f"{_gibibytes(free['memory'])} of {_gibibytes(total['memory'])} GiB memory"
    parts = [f"{free['cpu']} of {counted(total['cpu'], 'CPU')}", memory]
    if total["gpus"]:
        parts.append(f"{len(free['gpus'])} of {counted(len(total['gpus']), 'GPU')}")
    return f": {', '.join(parts)} free"


def _pool_lines(capacity: Json) -> Iterator[str]:
    """The sorts of nodes of a cluster, and the quotas of its namespace."""
    for pool in capacity.get("pools") or ():
        total, free = pool["total"], pool["free"]
        gpus = "".join(
            f", {free['gpus'].get(name, 0)} of {number} {name}"
            for name, number in total["gpus"].items()
        )
        memory = f"{_gibibytes(free['memory'])} of {_gibibytes(total['memory'])} GiB memory"
        nodes = counted(pool["nodes"], "node")
        cpus = f"{free['cpu']} of {counted(total['cpu'], 'CPU')}"
        yield f"      {pool['name']}: {nodes}, {cpus}, {memory}{gpus} free"
    for limit in capacity.get("limits") or ():
        used = f"{limit['used']} of {limit['hard']} {limit['resource']} used"
        yield f"      quota {limit['name']}: {used}"


def _gibibytes(amount: str) -> str:
    from trainway.jobset.quantity import Quantity  # noqa: PLC0415 - slow to import

    return f"{Quantity.parse(amount).ceil() / 2**30:.1f}"
