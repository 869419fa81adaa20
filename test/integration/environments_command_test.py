import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from trainway.agent.environment.shelf import Shelf
from trainway.cli.app import app

KEY = "0123456789abcdef0123"


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    monkeypatch.setenv("TRAINWAY_ENVIRONMENTS", str(tmp_path / "environments"))
    return Shelf(str(tmp_path / "environments"))


def invoke(*words: str) -> str:
    done = CliRunner().invoke(app, ["environments", *words])
    assert done.exit_code == 0, done.output
    return done.output


def test_environments_are_listed_and_removed(shelf: Shelf) -> None:
    assert invoke("ls") == "there are no environments on this machine\n"
    shelf.prepare()
    Path(shelf.path(KEY)).mkdir()
    shelf.finish(KEY, {"packages": ["six", "trl"], "python": "3.11.7"})
    lines = invoke("ls").splitlines()
    assert [line.split()[0] for line in lines] == ["NAME", KEY]
    assert lines[1].endswith("six, trl")
    assert json.loads(invoke("ls", "-o", "json"))[0]["packages"] == ["six", "trl"]
    assert invoke("prune") == "nothing was to be removed\n"
    assert invoke("prune", "--all").startswith("1 environment removed, ")
    assert shelf.entries() == []
