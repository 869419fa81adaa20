"""`trainway volumes` and `trainway storage` with what a server lists."""

from dataclasses import dataclass, field

import pytest
from click.testing import CliRunner, Result

from trainway.cli.app import app
from trainway.cli.commands import storage, volumes
from trainway.errors import InvalidError
from trainway.json_types import Json

VOLUME: Json = {
    "name": "corpus", "type": "directory", "infra": "local", "size": "", "hostPath": "/srv",
    "accessMode": "", "usedBy": [], "created": "2026-11-18T05:00:00Z",
}  # fmt: skip
BUCKET: Json = {
    "name": "b", "uri": "s3://b", "store": "S3", "job": "j", "updated": "now", "state": "READY",
}  # fmt: skip


@dataclass
class Rest:
    """A server that has one of each, or nothing."""

    is_empty: bool = False
    deleted: list[str] = field(default_factory=list)

    def volumes(self) -> list[Json]:
        return [] if self.is_empty else [VOLUME]

    def buckets(self) -> list[Json]:
        return [] if self.is_empty else [BUCKET]

    def apply_volume(self, volume: Json) -> Json:
        raise InvalidError([f"config.host_path: {volume['config']['host_path']} is away"], hint="x")

    def delete_volume(self, name: str) -> None:
        self.deleted.append(name)


@pytest.fixture
def rest(monkeypatch: pytest.MonkeyPatch) -> Rest:
    made = Rest()
    for module in (volumes, storage):
        monkeypatch.setattr(module, "_connected", lambda: made)
    return made


def invoke(*words: str) -> Result:
    return CliRunner().invoke(app, words)


def test_nothing_is_deleted_where_nobody_can_be_asked(rest: Rest) -> None:
    for group, name in (("volumes", "corpus"), ("storage", "b")):
        asked = invoke(group, "delete", name)
        assert asked.exit_code == 2
        assert "asks for confirmation" in asked.stderr
    assert rest.deleted == []
    assert invoke("volumes", "delete", "-y", "corpus").stdout == "corpus deleted\n"
    assert rest.deleted == ["corpus"]


def test_they_are_listed_in_each_form(rest: Rest) -> None:
    assert rest.deleted == []
    assert invoke("volumes", "ls", "-o", "name").stdout == "corpus\n"
    assert invoke("storage", "ls").stdout.split()[-5:] == ["b", "S3", "j", "now", "READY"]
    assert "hostPath: /srv" in invoke("volumes", "ls", "-o", "yaml").stdout


def test_where_there_is_nothing_the_next_step_is_said(rest: Rest) -> None:
    rest.is_empty = True
    none = invoke("volumes", "ls")
    assert (none.stdout, none.stderr) == (
        "",
        "there are no volumes; trainway volumes apply makes one\n",
    )
    assert invoke("storage", "ls").stderr.startswith("there are no buckets; ")
    assert invoke("volumes", "ls", "-o", "name").stderr == ""


def test_a_refusal_says_what_to_do(rest: Rest) -> None:
    assert rest.deleted == []
    done = invoke("volumes", "apply", "-n", "v", "--type", "directory", "--path", "/srv")
    assert (done.exit_code, done.stderr) == (1, "config.host_path: /srv is away\nhint: x\n")
