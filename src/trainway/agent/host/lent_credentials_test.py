"""Credentials come as private files, and jobs are told where they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.host.lent_credentials import LentCredentials

CONFIG = '[default]\ncredential_process = cat "{folder}/aws.json"\n'


def frame(key: str = "first", **changes: Any) -> Any:
    files = {"aws.json": f'{{"key": "{key}"}}', "aws.config": CONFIG}
    return {"op": "lend", "files": files, "variables": {"AWS_CONFIG_FILE": "aws.config"}, **changes}


def test_files_are_private_and_replaced(tmp_path: Path) -> None:
    environment: dict[str, str] = {"A": "b"}
    lent = LentCredentials(Directory(str(tmp_path)), environment)
    assert environment == {"A": "b"}
    lent.take(frame())
    lent.take(frame("another"))

    folder = tmp_path / "credentials"
    assert environment == {"A": "b", "AWS_CONFIG_FILE": f"{folder}/aws.config"}
    assert f'cat "{folder}/aws.json"' in (folder / "aws.config").read_text()
    assert (folder / "aws.json").read_text() == '{"key": "another"}'
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700


def test_the_next_daemon_knows_where_they_are(tmp_path: Path) -> None:
    LentCredentials(Directory(str(tmp_path)), {}).take(frame())
    environment: dict[str, str] = {}
    LentCredentials(Directory(str(tmp_path)), environment)

    assert environment == {"AWS_CONFIG_FILE": f"{tmp_path}/credentials/aws.config"}


@pytest.mark.parametrize(
    "changes",
    [
        {"files": {"../../.bashrc": "x"}},
        {"files": {"variables.json": "x"}},
        {"files": {"a/b": "x"}},
        {"variables": {"AWS_CONFIG_FILE": "/etc/shadow"}},
        {"variables": {"a=b": "aws.config"}},
    ],
)
def test_names_that_lead_elsewhere_are_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    lent = LentCredentials(Directory(str(tmp_path)), {})
    with pytest.raises(ValueError, match="makes no sense"):
        lent.take(frame(**changes))
    assert list(tmp_path.iterdir()) == []
