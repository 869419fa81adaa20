"""`trainway exec`: a job on a cluster that is there, without its setup."""

from typing import Any, Final

import click

from trainway.cli.cluster_connection import connect
from trainway.cli.cluster_options import WordsCommand, cluster_argument, task_group, task_wishes
from trainway.cli.cluster_target import target
from trainway.cli.commands.launch import run
from trainway.cli.completions import complete_files
from trainway.sdk.cluster_submission import named

_HELP: Final = """Run a task or a command on a cluster, without setup.

\b
trainway exec CLUSTER TASK.yaml
trainway exec CLUSTER 'echo $SKYPILOT_NODE_RANK'
trainway exec CLUSTER -- COMMAND ARGS...

The job waits in the cluster's queue until there is room for it. The workdir is sent again.

Exit status: the same as for launch.
"""


@click.command("exec", cls=WordsCommand, help=_HELP)
@cluster_argument
@click.argument("words", metavar="[TASK.yaml|COMMAND]...", nargs=-1, shell_complete=complete_files)
@task_group
@click.option(
    "-d", "--detach-run", "detach", is_flag=True, help="Only submit the job, and print its number."
)
@click.pass_context
def command(ctx: click.Context, /, cluster: str, words: tuple[str, ...], **options: Any) -> int:
    """Submit, then show."""
    task = target(words, ctx.obj, task_wishes(options))
    rest = connect()
    return run(rest, named(rest, cluster, task), task, with_setup=False, detach=options["detach"])
