from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from trainway.data.part_targets import PartTargets
from trainway.data.uri import parse
from trainway.errors import TrainwayError

MACHINE = "GCE_METADATA_HOST"
ACCOUNT = {"AZURE_STORAGE_ACCOUNT_NAME": "me"}


@dataclass(frozen=True)
class Case:
    name: str
    uri: str
    variables: Mapping[str, str] = field(default_factory=dict)
    file: str | None = None
    """The credentials of Google."""
    wanted: str | None = None
    """The object that is sent in parts; None: obstore sends it."""


CASES = (
    Case("S3 without keys", "s3://box/key"),
    Case("Google's emulator", "gs://box/a b", {"STORAGE_EMULATOR_HOST": "here:1"},
         wanted="http://here:1/box/a%20b"),
    Case("Google, a federated identity", "gs://box/key", file='{"type": "external_account"}'),
    Case("Google, a machine without an account", "gs://box/key", {MACHINE: "127.0.0.1:9"}),
    Case("Google, for everybody", "gs://box/key",
         {"GOOGLE_SKIP_SIGNATURE": "true", "STORAGE_EMULATOR_HOST": "here:1"}),
    Case("Azure with a key", "az://box/a ü", {**ACCOUNT, "AZURE_STORAGE_ACCOUNT_KEY": "aHVzaA=="},
         wanted="https://me.blob.core.windows.net/box/a%20%C3%BC"),
    Case("Azure with a token", "az://box/key", {**ACCOUNT, "AZURE_STORAGE_SAS_TOKEN": "sig=s"},
         wanted="https://me.blob.core.windows.net/box/key"),
    Case("Azure with an identity that may not sign", "az://box/key", ACCOUNT),
    Case("Azure with an identity, and a name that obstore signs wrongly", "az://box/ü", ACCOUNT),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_who_sends_an_object(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_words: Any) -> str:
        raise ValueError("nothing to sign with")

    monkeypatch.setattr("os.environ", dict(case.variables))
    monkeypatch.setattr("obstore.sign", refuse)
    targets = PartTargets(None, None, lambda _path: case.file)
    found = targets.of(parse(case.uri), lambda error: TrainwayError(str(error)))
    assert (None if found is None else found.name) == case.wanted
