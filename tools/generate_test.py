"""Tests of the generator itself; what it writes is tested where it is made."""

from pathlib import Path

import pytest
import yaml

import generate


def test_everything_is_up_to_date() -> None:
    assert generate.main(["--check"]) == 0


def test_what_is_written_is_up_to_date_until_someone_edits_it(
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


def test_crds_are_plain_yaml_without_aliases() -> None:
    for path, text in generate.generated():
        if path.endswith(".yaml"):
            assert not any(
                type(event).__name__ == "AliasEvent" for event in yaml.parse(text, yaml.CSafeLoader)
            )
