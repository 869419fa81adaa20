"""`trainway runtimes`: the built-in training runtimes."""

import sys
from typing import Any

import click

from trainway import runtimes
from trainway.cli.completions import complete_runtimes
from trainway.cli.output import echo, to_json, to_json_list, to_yaml
from trainway.errors import NotFoundError
from trainway.jobset.labels import FRAMEWORK
from trainway.schema.validation import closest

_PIPED_WIDTH = 1000
"""The width of a table that goes to a file or pipe, where nothing may be cut."""


@click.group("runtimes")
def command() -> None:
    """List or show the built-in training runtimes."""


@command.command("list")
@click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "json", "yaml", "name"]),
    default="table",
    show_default=True,
    help="The output format.",
)
def list_runtimes(output: str) -> None:
    """List the built-in runtimes."""
    if output == "name":
        echo("".join(f"{name}\n" for name in runtimes.names()))
        return
    objects = runtimes.builtin_runtimes()
    if output == "table":
        _print_table(objects)
    else:
        echo(to_yaml(objects) if output == "yaml" else to_json_list(objects))


@command.command("show")
@click.argument("name", shell_complete=complete_runtimes)
@click.option(
    "-o",
    "--output",
    type=click.Choice(["yaml", "json"]),
    default="yaml",
    show_default=True,
    help="The output format.",
)
def show(name: str, output: str) -> None:
    """Print the runtime NAME."""
    runtime = runtimes.builtin_runtime(name)
    if runtime is None:
        alike = [known for known in runtimes.names() if name.lower() in known]
        meant = closest(name, alike or runtimes.names(), 0 if alike else 0.6)
        hint = f'did you mean "{meant}"?' if meant else "trainway runtimes list shows all of them"
        raise NotFoundError(f'no built-in runtime "{name}"', hint=hint)
    echo(to_yaml([runtime]) if output == "yaml" else to_json(runtime))


def _print_table(objects: list[dict[str, Any]]) -> None:
    from rich.console import Console  # noqa: PLC0415 - slow to import, and only tables need it
    from rich.table import Table  # noqa: PLC0415 - as above

    table = Table("NAME", "FRAMEWORK", "POLICY", "IMAGE", box=None, pad_edge=False, header_style="")
    for runtime in objects:
        table.add_row(*_row(runtime))
    width = None if sys.stdout.isatty() else _PIPED_WIDTH
    Console(width=width, highlight=False, markup=False).print(table)


def _row(runtime: dict[str, Any]) -> tuple[str, str, str, str]:
    spec = runtime["spec"]
    policy = ", ".join(key for key in spec["mlPolicy"] if key != "numNodes")
    trainer = spec["template"]["spec"]["replicatedJobs"][-1]
    (container,) = trainer["template"]["spec"]["template"]["spec"]["containers"]
    framework = runtime["metadata"]["labels"][FRAMEWORK]
    return runtime["metadata"]["name"], framework, policy, container["image"]
