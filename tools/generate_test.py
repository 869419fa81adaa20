"""Tests of the generator itself; what it writes is tested where it is made."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
import yaml

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", HERE / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["generate"] = module
    spec.loader.exec_module(module)
    return module


def test_everything_is_up_to_date(generate: ModuleType) -> None:
    assert generate.main(["--check"]) == 0


def test_what_is_written_is_up_to_date_until_someone_edits_it(
    generate: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    assert generate.main(["--check"]) == 1
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0
    capsys.readouterr()
    edited = tmp_path / "manifests" / "crds" / "kubeflow.org_mpijobs.yaml"
    edited.write_text(edited.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert generate.main(["--check"]) == 1
    assert capsys.readouterr().err == (
        "manifests/crds/kubeflow.org_mpijobs.yaml is out of date: run `make generate`\n"
    )


def test_crds_are_plain_yaml_without_aliases(generate: ModuleType) -> None:
    for path, text in generate.generated():
        if path.endswith(".yaml"):
            assert not any(
                type(event).__name__ == "AliasEvent" for event in yaml.parse(text, yaml.CSafeLoader)
            )
