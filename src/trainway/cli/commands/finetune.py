"""`trainway finetune`: a model and a dataset become a job that tunes the model."""

from pathlib import Path
from typing import Any, Final

import click

from trainway.cli.commands.run import carry_out
from trainway.cli.commands.run import command as run
from trainway.cli.completions import complete_files
from trainway.cli.job_options import given_label_option
from trainway.cli.notify_option import notify_option
from trainway.cli.packages_option import package_words, packages_group
from trainway.cli.priority_option import priority_option
from trainway.cli.queue_option import queue_option
from trainway.cli.slurm_option import slurm_option
from trainway.cli.wishes import infra_option, max_wait_option, prefer_option, wishes_group
from trainway.errors import UnreadableError, UsageError
from trainway.json_types import Json
from trainway.sdk.manifests import Wishes

_HELP: Final = """Fine-tune a language model with TRL, and show the job until it ends.

\b
trainway finetune ./model ./data                               folders, no network needed
trainway finetune Qwen/Qwen2.5-7B-Instruct tatsu-lab/alpaca --gpus 8 --output s3://bucket/tuned
trainway finetune ./model ./pairs --task dpo max_length=4096 columns.chosen=better

MODEL and DATASET are folders or files, names on the hub, or URIs such as s3://bucket/path. Further
words are settings, NAME=VALUE; docs/finetuning.md lists them. TRL, PEFT, transformers, accelerate,
datasets and torch must be installed where the job runs.

Exit status: 0 the job succeeded, 4 it failed, 1 an error, 2 wrong usage, 3 something was not found.
"""


class _FineTune(click.Command):
    """Tells those who write a setting as an option how it is written."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Split the words of the command line."""
        words = list(package_words(args, ends_there=True, has_settings=True))
        try:
            return super().parse_args(ctx, words)
        except click.NoSuchOption as error:
            raise _no_option(error) or error from None


def _no_option(error: click.NoSuchOption) -> UsageError | None:
    from trainway.llm.configuration import meant  # noqa: PLC0415 - only for a mistake

    setting = meant(error.option_name.lstrip("-"))
    if not setting:
        return None
    written = "columns.PART=NAME" if setting == "columns" else f"{setting}=VALUE"
    hint = f"it is a setting: write {written} behind MODEL and DATASET"
    if setting in ("model", "dataset"):
        hint = "write MODEL and DATASET alone, in this order"
    return UsageError(f"there is no option {error.option_name}", hint=hint)


@click.command("finetune", cls=_FineTune, help=_HELP)
@click.argument("model", shell_complete=complete_files)
@click.argument("dataset", shell_complete=complete_files)
@click.argument("settings", nargs=-1, metavar="[NAME=VALUE]...")
@click.option(
    "--task",
    type=click.Choice(["sft", "dpo"]),
    default="sft",
    show_default=True,
    help="Learn from examples, or from pairs of answers.",
)
@click.option(
    "--method",
    type=click.Choice(["full", "lora", "qlora"]),
    help="Train all weights, an adapter (the default), or an adapter on weights in 4 bits.",
)
@click.option(
    "--config",
    metavar="FILE",
    shell_complete=complete_files,
    help="A YAML file with settings; options and words take precedence.",
)
@click.option(
    "--output",
    metavar="URI",
    help="Where the result goes: a URI such as s3://bucket/tuned, or a folder of the machine that"
    " trains. By default it stays in the output directory of the job.",
)
@wishes_group
@given_label_option
@priority_option()
@queue_option
@infra_option("Where to run: a place, a list such as slurm/hpc,local, or any.")
@prefer_option
@max_wait_option
@slurm_option
@notify_option
@packages_group
@click.option(
    "-d", "--detach", is_flag=True, help="Only submit the job, and print its name and id."
)
@click.option(
    "--dry-run", "--dryrun", is_flag=True, help="Only print the objects that would be submitted."
)
def command(model: str, dataset: str, settings: tuple[str, ...], **options: Any) -> int:
    """Check the settings, submit the job, and show it."""
    from trainway.llm.configuration import configured  # noqa: PLC0415 - only for this command
    from trainway.sdk.finetuning import FineTune, finetune_objects  # noqa: PLC0415 - as above

    given = _read(options["config"]) if options["config"] else {}
    if options["method"]:
        given["method"] = options["method"]
    for name in ("model", "dataset", "output"):
        if name in given or any(word.startswith(f"{name}=") for word in settings):
            instead = "write --output URI" if name == "output" else f"write {name.upper()} alone"
            raise UsageError(f"{name}: it is no setting of this command", hint=instead)
    places = {"model": model, "dataset": dataset}
    checked = configured({**given, **places}, settings, options["config"] or "settings")
    named = {*given, *(word.partition("=")[0].partition(".")[0] for word in settings)}
    asked = FineTune(
        model,
        dataset,
        options["task"],
        {name: getattr(checked, name) for name in sorted(named)},
        options["output"],
    )

    def made(wishes: Wishes) -> list[Json]:
        return finetune_objects(asked, wishes)

    unused = run.make_context("run", [], resilient_parsing=True).params  # what only `run` asks
    return carry_out((), None, {**unused, **options, "made": made}, {})


def _read(name: str) -> Json:
    import yaml  # noqa: PLC0415 - only for files

    try:
        found = yaml.safe_load(Path(name).read_text("utf-8"))
    except OSError as error:
        raise UnreadableError(f"{name}: {error.strerror}") from None
    except (yaml.YAMLError, ValueError, RecursionError):
        raise UnreadableError(f"{name}: it is no YAML") from None
    if not isinstance(found or {}, dict):
        raise UsageError(f"{name}: it must be a table of settings", hint="write method: lora")
    return dict(found or {})
