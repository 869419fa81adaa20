"""Something done with several clusters, one after the other; one that fails stops no other."""

from collections.abc import Callable, Sequence

import click

from trainway.cli.cluster_connection import chosen, confirm, connect
from trainway.cli.output import echo, echo_line
from trainway.errors import TrainwayError
from trainway.sdk.cluster_rest import ClusterRest


def act(
    names: Sequence[str],
    *,
    every: bool,
    question: str | None,
    work: Callable[[ClusterRest, str], object],
    done: str,
) -> int:
    """Do it; the exit status is that of the last error."""
    if not names and not every:
        raise click.UsageError("CLUSTER is missing", click.get_current_context())
    rest = connect()
    found = [str(item["metadata"]["name"]) for item in chosen(rest, names, every=every)]
    if not found:
        echo_line("there are no clusters")
        return 0
    if question and not confirm(f"{question} {', '.join(found)}?", yes=False):
        return 1
    return one_by_one(found, lambda name: work(rest, name), done)


def one_by_one(names: Sequence[str], work: Callable[[str], object], done: str) -> int:
    """Do something with each of them, and say so; the exit status is that of the last error."""
    status = 0
    for name in names:
        try:
            work(name)
        except TrainwayError as error:
            echo_line(f"error: {error.message}")
            if error.hint:
                echo_line(f"hint: {error.hint}")
            status = error.exit_code
        else:
            echo(f"{name} {done}\n")
    return status
