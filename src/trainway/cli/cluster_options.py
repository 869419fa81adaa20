"""Options and arguments that the cluster commands share. Their names are SkyPilot's."""

from collections.abc import Callable
from typing import Any, Final

import click

from trainway.cli.completions import (
    complete_cluster_infras,
    complete_clusters,
    complete_folders,
)
from trainway.cli.packages_option import given_packages, package_words, packages_group
from trainway.cli.variables import env_option, given_variables, task_options
from trainway.sdk.cluster_tasks import TaskWishes

Command = Callable[..., Any]


class WordsCommand(click.Command):
    """Keeps what stands after `--` apart: there words stay words, and are no text of a shell."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Split, and leave the first part to click."""
        split = args.index("--") if "--" in args else len(args)
        ctx.obj = args[split + 1 :] if split < len(args) else None
        words = args[:split]
        if any("--packages" in param.opts for param in self.params):
            words = list(package_words(words, ends_there=split < len(args)))
        return super().parse_args(ctx, words)


def task_group(command: Command) -> Command:
    """What may be said of a task beside its file."""
    options = (
        click.option("-n", "--name", help="Name of the job."),
        click.option(
            "--workdir",
            metavar="FOLDER",
            help="The folder in which the job runs.",
            shell_complete=complete_folders,
        ),
        click.option(
            "--num-nodes", "--nodes", "nodes", type=click.IntRange(min=1), help="Number of nodes."
        ),
        click.option("--cpus", metavar="NUMBER", help="CPUs for each node: 4, 4+, 0.5."),
        click.option(
            "--memory", metavar="SIZE", help="Memory for each node, in GB: 16, 16+, 512MB."
        ),
        click.option(
            "--gpus", metavar="NAME[:COUNT]", help="GPUs for each node: A100:8, A100:0.5."
        ),
        env_option,
        task_options,
        packages_group,
    )
    for option in reversed(options):
        command = option(command)
    return command


_MACHINE: Final = ("instance_type", "image_id", "disk_size", "disk_tier")


def machine_group(command: Command) -> Command:
    """What may be said of machines that are rented."""
    options = (
        click.option(
            "-t", "--instance-type", metavar="TYPE", help="The type of a rented machine: m5.large."
        ),
        click.option("--image-id", metavar="IMAGE", help="Its image: ami-0a1b2c."),
        click.option("--disk-size", metavar="SIZE", help="The size of its disk, in GB."),
        click.option("--disk-tier", metavar="TIER", help="low, medium, high, ultra or best."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def infra_option(command: Command) -> Command:
    """`--infra`, or `--on` as elsewhere."""
    return click.option(
        "--infra",
        "--on",
        "infra",
        default="",
        metavar="INFRA",
        help="Where to make the cluster: local, ssh/POOL, slurm/CLUSTER[/PARTITION], or a cloud: "
        "aws, aws/us-east-1, cloud.",
        shell_complete=complete_cluster_infras,
    )(command)


def cluster_argument(command: Command) -> Command:
    """One cluster."""
    return click.argument("cluster", metavar="CLUSTER", shell_complete=complete_clusters)(command)


def clusters_argument(command: Command) -> Command:
    """Any number of clusters, or patterns of their names."""
    return click.argument(
        "clusters", metavar="[CLUSTER]...", nargs=-1, shell_complete=complete_clusters
    )(command)


def every_option(what: str) -> Callable[[Command], Command]:
    """`-a`, and as SkyPilot's users may know it `-u`: whose they are makes no difference."""
    names = ("-a", "--all", "-u", "--all-users", "every")
    return click.option(*names, is_flag=True, help=f"All {what}.")


def yes_option(command: Command) -> Command:
    """`-y`."""
    return click.option("-y", "--yes", is_flag=True, help="Do not ask.")(command)


def idle_option(command: Command) -> Command:
    """`-i`, long."""
    return click.option(
        "-i",
        "--idle-minutes-to-autostop",
        "idle_minutes",
        type=click.IntRange(min=0),
        metavar="MINUTES",
        help="Stop after this many minutes without a job; 0 stops as soon as there is none.",
    )(command)


def task_wishes(options: dict[str, Any]) -> TaskWishes:
    """What the options of `task_group` say."""
    told = given_variables(options)
    return TaskWishes(
        name=options["name"],
        nodes=options["nodes"],
        cpus=options["cpus"],
        memory=options["memory"],
        gpus=options["gpus"],
        machine={name: options[name] for name in _MACHINE if options.get(name)},
        workdir=options["workdir"],
        env=told.env,
        secrets=told.secrets,
        packages=given_packages(options),
    )
