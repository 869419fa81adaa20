"""What is said of mistakes on the command line."""

from dataclasses import dataclass

import pytest
from click.testing import CliRunner

from trainway.cli.app import app


@dataclass(frozen=True)
class Case:
    """Words that somebody types, and the sentence that answers them."""

    words: str
    said: str
    command: str

    def __str__(self) -> str:
        return self.words


CASES = [
    Case("run --priority high x.py", "--priority: 'high' is not a whole number", "run"),
    Case("run --max-cost 5euro x.py", "--max-cost: '5euro' is not a number", "run"),
    Case(
        "run --priority 5000 x.py",
        "--priority: 5000 is out of range: it must be between -1000 and 1000",
        "run",
    ),
    Case(
        "run --num-jobs 0 x.py",
        "--num-jobs: 0 is out of range: it must be 1 or more",
        "run",
    ),
    Case(
        "run --max-cost -1 x.py",
        "--max-cost: -1.0 is out of range: it must be between 0 and 1000000000",
        "run",
    ),
    Case(
        "run --nodes two x.py",
        "--nodes or --num-nodes: 'two' is not a number of nodes; write a number such as 4, or "
        "MIN:MAX such as 2:8 for an elastic torch job",
        "run",
    ),
    Case("run --gpus 8GB x.py", "--gpus: '8GB' is not an amount; write 8", "run"),
    Case(
        "jobs show x -o yml",
        "--output: 'yml' is not one of table, wide, json, yaml, name",
        "jobs show",
    ),
    Case("jobs show", "NAME is missing", "jobs show"),
    Case("cancel", "CLUSTER or NAME is missing", "cancel"),
    Case("down", "CLUSTER is missing", "down"),
    Case("jobs pool down", "NAME is missing", "jobs pool down"),
    Case("nodes drain h1", "--on or --infra is missing", "nodes drain"),
    Case("completion", "SHELL is missing: write bash, zsh or fish", "completion"),
    Case("completion tcsh", "SHELL: 'tcsh' is not one of bash, zsh, fish", "completion"),
    Case("jobs note a b c d", "too many arguments: c d", "jobs note"),
    Case(
        "jobs list --nam x",
        "there is no option --nam; did you mean --name?",
        "jobs list",
    ),
    Case("server start --listen", "--listen needs a value", "server start"),
    Case("run --packages -- true", "--packages needs a value", "run"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_mistake_is_a_sentence_that_names_the_command(case: Case) -> None:
    result = CliRunner().invoke(app, case.words.split(), prog_name="trainway")

    assert result.exit_code == 2
    hint = f"hint: see trainway {case.command} --help"
    assert result.stderr.splitlines() == [f"error: {case.said}", hint]
