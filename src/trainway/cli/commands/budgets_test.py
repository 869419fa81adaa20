"""What is said of budgets, and what makes no sense."""

import pytest
from click.testing import CliRunner

from trainway.cli.app import app
from trainway.cli.commands.budgets import _row


def test_a_row() -> None:
    budget = {"name": "nlp", "user": None, "label": "team=nlp", "monthly": 5000.0, "spent": 4210.0}
    row = _row({**budget, "state": "near"})
    assert row == ["nlp", "team=nlp", "$5,000.00", "$4,210.00", "84 %", "near"]


@pytest.mark.parametrize(
    "words",
    [
        ("nlp", "--monthly", "5"),
        ("nlp", "--user", "a", "--label", "b=c", "--monthly", "5"),
        ("nlp", "--user", "a"),
        ("nlp", "--user", "a", "--monthly", "0"),
    ],
)
def test_what_makes_no_sense_is_refused(words: tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, ["budgets", "set", *words], prog_name="trainway")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
