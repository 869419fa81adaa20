"""The dashboard's tool: which Node it takes, what it does without, and what reaches the wheel."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

import dashboard
from quick_tests import ROOT


@dataclass(frozen=True)
class Case:
    version: str
    is_new_enough: bool


CASES = [
    Case("v20.19.0\n", True),
    Case("v20.18.3", False),
    Case("v18.20.4", False),
    Case("v24.1.0", True),
    Case("v22.0.0-nightly2026", True),
    Case("", False),
    Case("node: not found", False),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.version.strip() or "none")
def test_a_node_is_taken_if_it_is_new_enough(case: Case) -> None:
    assert dashboard.is_new_enough(case.version) == case.is_new_enough


@pytest.mark.parametrize(("ci", "status"), [("", 0), ("true", 1)])
def test_without_node_one_line_says_so_and_ci_fails(
    ci: str, status: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dashboard, "node_folder", lambda: None)
    monkeypatch.setenv("CI", ci)
    assert dashboard.main(["build"]) == status
    said = capfd.readouterr().err
    assert said == (
        "The dashboard is left out: it needs Node 20.19 or newer, and neither the PATH nor PyPI"
        " has it.\n"
    )


def test_packages_that_another_checkout_has_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed: list[str] = []
    monkeypatch.setattr(dashboard, "SOURCES", tmp_path)
    monkeypatch.setattr(dashboard, "_npm", lambda _, *words: installed.append(words[0]))
    (tmp_path / "package-lock.json").write_text("{}")
    (tmp_path / "others").mkdir()
    (tmp_path / "node_modules").symlink_to(tmp_path / "others")
    dashboard._install_packages(tmp_path)
    assert installed == []
    (tmp_path / "node_modules").unlink()
    (tmp_path / "node_modules").mkdir()
    dashboard._install_packages(tmp_path)
    dashboard._install_packages(tmp_path)
    assert installed == ["ci"]


def test_the_api_is_described_without_a_server() -> None:
    description = json.loads(dashboard.api_description())
    assert "/api/v1/jobs/{ref}/cancel" in description["paths"]
    assert "Job" in description["components"]["schemas"]


def test_the_wheel_has_the_dashboard_although_git_ignores_it() -> None:
    config = WheelBuilder(str(ROOT)).config
    assert config.include_path("src/trainway/server/dashboard/index.html")
    assert config.include_path("src/trainway/server/dashboard/assets/index-abc.js")
    assert not config.include_path("src/trainway/server/left.pyc")


def test_the_lock_file_names_no_registry() -> None:
    text = (dashboard.SOURCES / "package-lock.json").read_text(encoding="utf-8")
    assert "resolved" not in text
    assert "https://registry" not in text
