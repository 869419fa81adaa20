"""`trainway volumes`: folders and claims that jobs mount by name."""

from pathlib import Path
from typing import Any, Final

import click

from trainway.cli.cluster_connection import confirm
from trainway.cli.connection import connect
from trainway.cli.job_options import output_option
from trainway.cli.listing import LISTINGS, echo_listing
from trainway.cli.output import echo
from trainway.cli.refusal import RefusedError
from trainway.errors import InvalidError, UsageError
from trainway.json_types import Json
from trainway.sdk.storage_rest import StorageRest

_APPLY: Final = """Name a volume, or change one.

\b
name: corpus
type: directory                  # or k8s-pvc, k8s-hostpath
infra: ssh/lab                   # or local, slurm/CLUSTER, k8s/CONTEXT
config: {host_path: /srv/corpus, access_mode: ReadOnlyMany}

\b
name: scratch
type: k8s-pvc                    # the claim is made, unless use_existing is true
infra: k8s/CONTEXT
size: 100Gi
config: {access_mode: ReadWriteMany, storage_class_name: fast, namespace: team}

Jobs mount it with volumes: {/data: corpus} in a task, or as a claim of that name in other jobs.
Options take precedence over the file.
"""
_HEADER: Final = ("NAME", "TYPE", "INFRA", "SIZE", "PATH", "ACCESS MODE", "USED BY", "CREATED")


@click.group("volumes")
def command() -> None:
    """Give folders and claims a name, so that jobs can mount them."""


@command.command("apply", help=_APPLY)
@click.argument("file", metavar="[FILE]", required=False)
@click.option("-n", "--name", help="The name.")
@click.option("--infra", help="Where it is.")
@click.option("--type", "kind", metavar="TYPE", help="directory, k8s-pvc or k8s-hostpath.")
@click.option("--size", help="The size of a claim, such as 100Gi.")
@click.option("--path", help="The folder on the hosts.")
@click.option("--use-existing", is_flag=True, help="The claim is in the cluster already.")
def apply(file: str | None, **options: Any) -> None:
    """Name a volume, or change one."""
    data = _read(file) if file else {}
    named = {"name": "name", "infra": "infra", "kind": "type", "size": "size"}
    data |= {field: options[key] for key, field in named.items() if options[key]}
    if options["use_existing"]:
        data["use_existing"] = True
    if options["path"]:
        data["config"] = {**(data.get("config") or {}), "host_path": options["path"]}
    for field in ("name", "type"):
        if not data.get(field):
            raise UsageError(f"the volume has no {field}", hint=f"give a file, or --{field}")
    rest = _connected()
    is_known = any(volume["name"] == data["name"] for volume in rest.volumes())
    try:
        made = rest.apply_volume(data)
    except InvalidError as error:
        prefix = f"{file}: " if file else ""
        hint = [f"hint: {error.hint}"] if error.hint else []
        lines = [f"{prefix}{line}" for line in error.lines]
        raise RefusedError([*lines, *hint], error.exit_code) from None
    echo(f"{made['name']} {'changed' if is_known else 'created'}\n")


@command.command("ls")
@output_option(LISTINGS)
def list_volumes(output: str) -> None:
    """List volumes, and the jobs that use them."""
    fields = ("name", "type", "infra", "size", "hostPath", "accessMode", "usedBy", "created")
    found = _connected().volumes()
    echo_listing(
        found,
        output,
        _HEADER,
        lambda each: [_text(each[field]) for field in fields],
        none="there are no volumes; trainway volumes apply makes one",
    )


@command.command("delete")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("-a", "--all", "is_all", is_flag=True, help="Delete all of them.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask first.")
def delete_volumes(names: tuple[str, ...], is_all: bool, yes: bool) -> None:
    """Forget volumes. What is in them stays, unless apply made the claim: that is removed."""
    if bool(names) == is_all:
        raise UsageError("name the volumes, or give --all", hint="trainway volumes ls lists them")
    rest = _connected()
    known = {str(volume["name"]): volume for volume in rest.volumes()}
    wanted = list(known) if is_all else list(names)
    made = [name for name in wanted if known.get(name, {}).get("made")]
    lost = f" The claims of {', '.join(made)} are removed, with everything in them." if made else ""
    if not wanted or not confirm(f"Forget {', '.join(wanted)}?{lost}", yes=yes):
        return
    for name in wanted:
        rest.delete_volume(name)
        echo(f"{name} deleted\n")


def _read(file: str) -> Json:
    from trainway.api.task import scalar  # noqa: PLC0415 - only to apply
    from trainway.api.yaml_composer import compose  # noqa: PLC0415 - as above
    from trainway.sdk.targets import read_manifest  # noqa: PLC0415 - as above

    found = [value for value, _, _ in compose(read_manifest(Path(file)), scalar.resolve)]
    if len(found) != 1 or not isinstance(found[0], dict):
        raise UsageError(
            f"{file} does not describe one volume", hint="see trainway volumes apply -h"
        )
    return found[0]


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _connected() -> StorageRest:
    return StorageRest(connect().transport)
