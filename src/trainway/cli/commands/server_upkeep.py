"""`trainway server check`, `backup` and `restore`: the database, also where no server can start.

The work is done by a process of the server side, which needs no server that runs.
"""

import json
import subprocess
import sys
from pathlib import Path

import click

from trainway.cli.job_options import output_option
from trainway.cli.output import echo, echo_line, to_json, to_yaml
from trainway.errors import TrainwayError, UsageError
from trainway.json_types import Json
from trainway.sdk.address import Home, configured_address
from trainway.sdk.failures import from_response

_MOST_NAMES = 10
_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("check")
@output_option(("table", "json", "yaml"))
def check(output: str) -> int:
    """Check the database and the directories of the jobs.

    Exit code 1 if the database is damaged, 3 if there is none.
    """
    found = _upkeep("check")
    if output == "table":
        echo("".join(f"{line}\n" for line in _report(found)))
    else:
        echo(to_json(found) if output == "json" else to_yaml([found]))
    return 0 if found["isWell"] else 1


@click.command("backup")
@click.argument("file", type=_FILE)
@click.option("--force", is_flag=True, help="Replace an existing file.")
def backup(file: Path, force: bool) -> None:
    """Copy the database to FILE; the server may be running."""
    made = _upkeep("backup", str(file), *(["--force"] if force else []))
    echo_line(f"{made['file']} is a copy of {made['database']} ({made['bytes']} bytes)")


@click.command("restore")
@click.argument("file", type=_FILE)
def restore(file: Path) -> None:
    """Replace the database with FILE, a backup.

    The present database is kept beside it. The next command finds jobs that have started since the
    backup in their directories.
    """
    made = _upkeep("restore", str(file))
    echo_line(f"{made['database']} is now a copy of {made['file']}")
    if made["kept"]:
        echo_line(f"the previous database is kept as {made['kept']}")


def _upkeep(*words: str) -> Json:
    if configured_address() is not None:
        raise UsageError(
            "TRAINWAY_SERVER names a server whose database is on its own machine",
            hint="run this command on that machine, without TRAINWAY_SERVER",
        )
    home = Home.of_environment()
    command = [sys.executable, "-m", "trainway.server.upkeep", "--home", str(home.path), *words]
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - our own module
    try:
        answer: Json = json.loads(done.stdout)
    except ValueError:
        said = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise TrainwayError(
            ": ".join(["the database cannot be checked, copied or restored", *said])
        ) from None
    if "error" in answer:
        raise from_response(500, done.stdout)
    return answer


def _report(found: Json) -> list[str]:
    """What was found, for people."""
    if not found["isWell"]:
        return [
            f"{found['database']} is damaged:",
            *(f"  {problem}" for problem in found["problems"]),
            "After trainway server stop, the next command sets it aside and rebuilds it from the",
            "jobs' directories; trainway server restore FILE goes back to a backup instead.",
        ]
    version = str(found["version"])
    if version != found["newestVersion"]:
        version += f", which the next server upgrades to {found['newestVersion']}"
    counts = ", ".join(f"{count} {name}" for name, count in found["counts"].items())
    strays, lost = found["directoriesWithoutRecord"], found["recordsWithoutDirectory"]
    lines = [f"{found['database']} is not damaged", f"  version {version}", f"  {counts}"]
    if strays:
        lines.append(f"  directories without a record, taken up at the next start: {_few(strays)}")
    if lost:
        lines.append(f"  jobs whose directories are gone: {_few(lost)}")
    return lines


def _few(names: list[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
