import os
import sys
from importlib.machinery import ModuleSpec

import pytest
from click.testing import CliRunner, Result

from trainway.cli.app import app
from trainway.cli.commands import operator as module


def invoke(*args: str) -> Result:
    return CliRunner().invoke(app, args, prog_name="trainway")


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The programs that this process would have become."""
    programs: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _path, words: programs.append(words))
    return programs


@pytest.mark.parametrize("name", ["run", "install", "uninstall"])
def test_everything_is_passed_on(executed: list[list[str]], name: str) -> None:
    given = ["--kubeconfig", "F", "--unknown=1", "-h", "--", "x"]
    assert invoke("operator", name, *given[:4], *given[5:]).exit_code == 0
    wanted = [sys.executable, "-m", "trainway.operator", name, *given[:4], *given[5:]]
    assert executed == [wanted]


def test_without_its_packages_it_says_what_to_install(
    executed: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(name: str) -> ModuleSpec | None:
        return None if name in ("aiohttp", "orjson") else ModuleSpec(name, None)

    monkeypatch.setattr(module, "find_spec", found)
    result = invoke("operator", "run")
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        "error: the operator needs packages that are not installed: aiohttp, orjson",
        "hint: pip install 'trainway[kubernetes]'",
    ]
    assert executed == []
