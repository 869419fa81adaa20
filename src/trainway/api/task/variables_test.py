"""Variables: strings, overrides, `$VAR`, .env files, and secrets that stay hidden."""

from typing import Any

import pytest

from trainway.api.task import task, variables
from trainway.api.task.testing import Case
from trainway.api.task.variables import Overrides, parse_env_file
from trainway.errors import UsageError


def read(**document: Any) -> task.Task:
    found = task.read(document)
    assert found.task is not None, found.errors
    return found.task


def test_values_become_strings() -> None:
    done = read(envs={"A": 1, "B": 1.5, "C": True, "D": "x"}, secrets={"E": 2})

    assert done.envs == {"A": "1", "B": "1.5", "C": "True", "D": "x"}
    assert done.secrets == {"E": "2"}


def test_overrides_count_first_and_are_enough() -> None:
    overrides = Overrides({"A": "new", "B": "more"}, {"S": "given"})
    found = task.read({"envs": {"A": None}, "secrets": {"S": None}}, overrides)

    assert found.task is not None
    assert found.task.envs == {"A": "new", "B": "more"}
    assert found.task.secrets == {"S": "given"}
    assert found.task.managed_secrets == ()


def test_a_listed_secret_can_be_given() -> None:
    found = task.read({"secrets": ["secrets:global.S"]}, Overrides({}, {"S": "given"}))

    assert found.task is not None
    assert found.task.secrets == {"S": "given"}


@pytest.mark.parametrize(
    "case",
    [
        Case("braces", "a/${A}/b", "a/1/b"),
        Case("bare", "$A-x", "1-x"),
        Case("longer name", "$AB", "$AB"),
        Case("unknown", "$OTHER", "$OTHER"),
        Case("half open", "${A", "1"),
        Case("no default", "${A:-x}", "1:-x}"),
        Case("twice", "$A$A", "11"),
        Case("not again", "$B", "$A"),
        Case("secret", "$S", "hidden"),
    ],
    ids=lambda case: case.name,
)
def test_substitution(case: Case) -> None:
    done = read(workdir=case.text, envs={"A": 1, "B": "$A"}, secrets={"S": "hidden"})

    assert done.workdir == case.expected


def test_where_variables_are_replaced() -> None:
    done = read(
        envs={"A": "x"},
        file_mounts={"/$A": "./$A"},
        volumes={"/v": "$A"},
        service={"readiness_probe": "/$A", "replicas": 1},
        resources={"ports": 80, "labels": {"a": "$A"}},
        setup="$A",
        run="$A",
    )

    assert done.data["file_mounts"] == {"/x": "./x"}
    assert done.data["volumes"] == {"/v": "x"}
    assert done.data["service"]["readiness_probe"] == "/x"
    assert done.data["resources"]["labels"] == {"a": "$A"}
    assert (done.setup, done.run) == ("$A", "$A")
    assert done.to_dict()["file_mounts"] == {"/$A": "./$A"}


def test_a_secret_is_not_in_what_is_shown_nor_in_an_error() -> None:
    found = task.read({"file_mounts": {"/d": "ftp://$S/x"}, "secrets": {"S": "hidden"}})
    shown = read(workdir="./$S", secrets={"S": "hidden"})

    (error,) = found.errors
    assert (error.field, error.value) == ("file_mounts[/d]", "***")
    assert "hidden" not in str(error)
    assert shown.shown["workdir"] == "./$S"
    assert shown.exposed_secrets == ["S"]


@pytest.mark.parametrize(
    "case",
    [
        Case("plain", "A=1\nB=two words\n", {"A": "1", "B": "two words"}),
        Case("comments", "# x\n\nA=1 # why\nB=a#b\n", {"A": "1", "B": "a#b"}),
        Case("export", "export A=1", {"A": "1"}),
        Case("quotes", "A=\"x # y\"\nB='a\\nb'\nC=\"a\\nb\"", {
            "A": "x # y", "B": "a\\nb", "C": "a\nb",
        }),
        Case("empty", "A=\nB=''", {"A": "", "B": ""}),
        Case("equals", "A=b=c", {"A": "b=c"}),
        Case("last counts", "A=1\nA=2", {"A": "2"}),
    ],
    ids=lambda case: case.name,
)  # fmt: skip
def test_env_file(case: Case) -> None:
    assert parse_env_file(case.text) == case.expected


@pytest.mark.parametrize("text", ["A", "=1", "1A=2", "A B=1"])
def test_no_env_file(text: str) -> None:
    with pytest.raises(UsageError, match="line 2"):
        parse_env_file(f"OK=1\n{text}")


def test_which_secrets_are_managed() -> None:
    given = {"A": None, "B": "secrets:B", "C": "secrets:global.C", "D": "value", "E": ""}

    assert variables.managed(given) == ("A", "B", "C")
