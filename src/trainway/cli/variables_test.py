"""Variables of the command line: options, files, and the environment."""

from pathlib import Path

import pytest

from trainway.cli.variables import given, variables_of
from trainway.errors import UnreadableError, UsageError


def test_an_option_counts_before_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "env"
    file.write_text("A=file\nB=file\n")
    monkeypatch.setenv("FROM_HERE", "here")

    assert given("--env", ["A=option", "FROM_HERE", "C=x=y"], [str(file)]) == {
        "A": "option",
        "B": "file",
        "FROM_HERE": "here",
        "C": "x=y",
    }


def test_variables_and_secrets_of_a_command() -> None:
    options = {"variables": ("A=1",), "env_files": (), "secrets": ("S=2",), "secret_files": ()}
    found = variables_of(options)

    assert (dict(found.env), dict(found.secrets)) == ({"A": "1"}, {"S": "2"})


def test_what_is_no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MISSING", raising=False)

    with pytest.raises(UsageError, match="--env MISSING: this variable is not set here"):
        given("--env", ["MISSING"])
    with pytest.raises(UsageError, match=r"--secret =\.\.\.: the name is missing"):
        given("--secret", ["=hidden"])


@pytest.mark.parametrize("content", [b"no variable\n", b"A=\xff\n"])
def test_a_file_that_is_no_such_file(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "env"
    file.write_bytes(content)

    with pytest.raises(UnreadableError, match=str(file)):
        given("--env", [], [str(file)])


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="No such file"):
        given("--env", [], [str(tmp_path / "none")])
