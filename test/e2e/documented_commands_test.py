"""Every command of the README and of the pages runs as written, or stands here with the reason."""

import functools
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import click
import pytest
from documented_commands import (
    PAGES,
    Command,
    blocks,
    commands,
    comparable,
    inline_commands,
    newcomers_folder,
    type_in,
)
from installation import TIMEOUT_S, Installation
from slurm_site import SlurmSite
from ssh_pool import SshPool

from trainway.cli.app import app

NOT_TYPED: Final = {
    r"make (install|test)\b": "CI does it as steps of its own",
    r"pip install": "it would install from PyPI",
    r"(kubectl|helm) ": "it needs a cluster; test/kubernetes has the operator's own tests",
    r"curl .*KUBEFLOW_TRAINER": "it runs inside a job; test/integration/status_endpoint_test.py",
    r"TRAINWAY_SERVER=http://host": "there is no such host",
    r"ssh -N -L": "there is no such host",
    r"python -m trainway\.data\.flight": "it serves until somebody ends it",
    r"python examples/tiny_llm\.py": "it needs transformers; test/e2e/finetune_test.py has them",
}
"""Commands that are not typed here, and why."""

ONLY_PARSED: Final = {
    r"--(on|infra) k8s\b": "it needs a Kubernetes cluster",
    r"--(on|infra) slurm\b": "it needs Slurm; those of the tutorial run on one below",
    r"--(on|infra) ssh\b": "it needs hosts; those of the tutorial run on some below",
    r"--(on|infra) (aws|cloud)\b": "it would rent machines; test/clouds has a cloud for that",
    r"trainway clouds sweep": "it needs credentials of a cloud; test/clouds has them",
    r"trainway operator ": "it needs a Kubernetes cluster",
    r"trainway mpijob (?!.*--dry-run=client)": "it needs a Kubernetes cluster",
    r"trainway jobs (exec|shell|port-forward) (-it )?JOB": "it needs a job that is still running",
    r"trainway jobs stacks gang": "it needs a job that hangs; test/e2e/hangs_test.py has one",
    r"trainway jobs rerun .* --set spec\.trainer": "the script of the page is no TrainJob",
    r"trainway notify test": "it would send something; test/e2e/notify_test.py does",
    r"trainway data .*(s3|hf)://": "it needs a bucket or the hub; test/e2e/data_s3_test.py has one",
    r"trainway run --export s3://": "it needs a bucket; test/e2e/export_test.py has one",
    r"trainway cache (apply|delete)": "it needs a bucket; test/e2e/data_cache_test.py has a table",
    r"trainway volumes (apply|delete)": "the volume of the page is that of a pool of hosts",
    r"trainway finetune ": "it needs TRL; test/e2e/finetune_test.py has it",
    r"trainway doctor --deep": "it would run jobs on every cluster of the machine",
}
"""Commands of ours that need what is not here: the real parser takes them."""

CAPACITY: Final = {"TRAINWAY_LOCAL_CAPACITY": '{"cpu": "8", "memory": "16Gi", "gpus": 2}'}
"""Pages also show commands for machines with GPUs."""


USED_BEFORE: Final = Command("trainway jobs list", "before")
"""Only the tutorial is for readers who have never run anything."""


def matching(patterns: dict[str, str], command: Command) -> list[str]:
    return [pattern for pattern in patterns if re.search(pattern, command.text)]


def is_typed(command: Command) -> bool:
    return not matching(NOT_TYPED, command) and not matching(ONLY_PARSED, command)


TYPED: Final = [page for page in PAGES if any(map(is_typed, commands(page)))]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A newcomer's folder; its name is short, since curl refuses a long path to a unix socket."""
    with TemporaryDirectory(prefix="typed-", ignore_cleanup_errors=True) as path:
        place = newcomers_folder(Path(path, "trainway"))
        yield place
        installation = Installation(place / "home" / ".trainway")
        if installation.home.exists():
            installation.run("down", "-a", "-y")
            installation.end()


@pytest.mark.engine  # servers and jobs for every page take a minute
@pytest.mark.parametrize("page", TYPED, ids=lambda page: page.name)
def test_the_commands_of_a_page_run(page: Path, folder: Path) -> None:
    shown = [one for one in commands(page) if is_typed(one)]
    before = [] if page.name == "tutorial.md" else [USED_BEFORE]

    for one in type_in([*before, *shown], folder, CAPACITY):
        if one.command.printed is None:
            assert one.code == 0, f"{one.command}\n{one.printed}"
        else:
            assert comparable(one.printed) == comparable(one.command.printed), str(one.command)


@pytest.mark.parametrize(
    "command",
    [one for page in PAGES for one in commands(page) if matching(ONLY_PARSED, one)],
    ids=str,
)
def test_a_command_for_another_place_is_understood(command: Command) -> None:
    words = command.words()
    parse(words[words.index("trainway") + 1 :])


def parse(words: list[str]) -> click.Context:
    """Let the real parser read a command, and do nothing."""
    group: click.Group = app
    context = app.make_context("trainway", words)
    while True:
        name, command, rest = group.resolve_command(
            context,
            [*context._protected_args, *context.args],
        )
        assert command is not None
        context = command.make_context(name, rest, parent=context)
        if not isinstance(command, click.Group):
            return context
        group = command


def test_the_options_of_the_operator_are_understood() -> None:
    """It is a program of its own, with a parser of its own."""
    shown = [one for page in PAGES for one in commands(page) if "trainway operator " in one.text]

    for one in shown:
        words = one.words()
        name, *rest = words[words.index("operator") + 1 :]
        given = {word for word in rest if word.startswith("--")}
        assert given <= operator_options(name), str(one)


@functools.cache
def operator_options(name: str) -> set[str]:
    program = [sys.executable, "-m", "trainway.operator", name, "--help"]
    done = subprocess.run(program, capture_output=True, text=True, check=True, timeout=TIMEOUT_S)
    return set(re.findall(r"--[a-z-]+", done.stdout))


@pytest.mark.parametrize("patterns", [NOT_TYPED, ONLY_PARSED], ids=["not typed", "only parsed"])
def test_every_exception_is_needed(patterns: dict[str, str]) -> None:
    everything = [one for page in PAGES for one in commands(page)]
    used = {pattern for one in everything for pattern in matching(patterns, one)}

    assert used == set(patterns)


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_commands_stand_in_blocks_that_are_typed(page: Path) -> None:
    for block in blocks(page):
        assert block.language, f"{page.name}:{block.line} has no language"
    text = page.read_text("utf-8")
    assert re.findall(r"^    (?:trainway|kubectl|helm) .*$", text, re.M) == []


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_what_sentences_name_is_there(page: Path) -> None:
    for code in inline_commands(page, lambda code: code.startswith("trainway ")):
        words = re.split(r"[\s\[\]|]+|\$\(.*", code)[1:]
        known = options_of(words)
        for word in words[: words.index("--")] if "--" in words else words:
            if re.fullmatch(r"--[a-z-]+(=.*)?", word):
                assert word.partition("=")[0] in known, f"{page.name}: {code}"


def options_of(words: list[str]) -> set[str]:
    """The options of the command that the words begin with."""
    command: click.Command = app
    context = click.Context(app)
    known = {"--help", "--version"}
    for word in words:
        if not isinstance(command, click.Group):
            break
        found = command.get_command(context, word)
        if found is None:
            assert word.startswith("-") or not word.islower(), f"there is no command {words}"
            break
        command = found
    for parameter in command.params:
        known.update((*parameter.opts, *parameter.secondary_opts))
    return known | (operator_options(words[1]) if words[0] == "operator" else set())


def tutorial(place: str) -> list[list[str]]:
    """The commands of the tutorial that run somewhere else, as words."""
    (page,) = [page for page in PAGES if page.name == "tutorial.md"]
    return [shlex.split(one.text)[1:] for one in commands(page) if f" --on {place}" in one.text]


@pytest.mark.xdist_group("slurm")
def test_the_tutorial_goes_on_with_slurm(slurm_site: SlurmSite) -> None:
    explain, run = tutorial("slurm/hpc")

    script = slurm_site.run(*[word.replace("slurm/hpc", "slurm/test") for word in explain])
    printed = slurm_site.run(*[word.replace("slurm/hpc", "slurm/test") for word in run])

    assert "#SBATCH --nodes=2" in script
    assert sorted(re.findall(r"node-[01] \| y = 3.00x \+ 1.00", printed)) == [
        "node-0 | y = 3.00x + 1.00",
        "node-1 | y = 3.00x + 1.00",
    ]


@pytest.mark.xdist_group("ssh")
def test_the_tutorial_goes_on_with_hosts(ssh_pool: SshPool) -> None:
    (run,) = tutorial("ssh/lab")

    printed = ssh_pool.run(*[word.replace("ssh/lab", "ssh/test") for word in run])

    assert len(re.findall(r"node-[01] \| y = 3.00x \+ 1.00", printed)) == 2
