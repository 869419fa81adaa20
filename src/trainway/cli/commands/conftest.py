"""A folder with a manifest and scripts, from which tests of `trainway run` submit."""

import json
from pathlib import Path
from typing import Final

import pytest

from trainway.json_types import Json

TRAIN: Final[Json] = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "a"},
    "spec": {"runtimeRef": {"name": "torch-distributed"}},
}


@pytest.fixture
def training_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory; commands look for their server in its folder `home`."""
    monkeypatch.setenv("TRAINWAY_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TRAINWAY_SERVER", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("trainway.sdk.targets.has_torch", lambda: False)
    monkeypatch.setattr("trainway.sdk.targets.fresh_suffix", lambda: "12345")
    Path("a.yaml").write_text(json.dumps(TRAIN))
    Path("train.py").write_text("")
    Path("train.txt").write_text("")
    return tmp_path
