"""`trainway notify`: whether notifications arrive."""

import click

from trainway.cli.connection import connect
from trainway.cli.job_options import output_option
from trainway.cli.output import echo, to_json, to_yaml


@click.group("notify")
def command() -> None:
    """Try out the notifications of jobs.

    The section notify of config.yaml, and the option --notify of run, say who is told how jobs go.
    """


@command.command("test")
@click.argument("target", default="", metavar="[TARGET]")
@output_option(("table", "json", "yaml"))
def test(target: str, output: str) -> int:
    """Send a test to TARGET, a name in config.yaml or a URL, or to all targets there.

    Exit code 1 if one of them does not arrive.
    """
    found = connect().notify_test(target)
    if output == "json":
        echo(to_json(found))
    elif output == "yaml":
        echo(to_yaml(found))
    else:
        for item in found:
            echo(f"{item['target']}: {'delivered' if item['ok'] else item['detail']}\n")
    return 0 if all(item["ok"] for item in found) else 1
