"""The cases of the conformance folder, where it is there: what upstream gives for many inputs.

The folder is `shared/conformance` beside the repository. Its own comparison decides what counts as
equal; the cases run in this process, since a process each would take minutes. One test runs the
comparison as it is meant to be run, over the command line.
"""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner

from trainway.cli.app import app

REPOSITORY = Path(__file__).resolve().parents[2]
FOLDER = REPOSITORY.parent / "shared" / "conformance"
TRAINWAY = Path(sys.executable).with_name("trainway")
DEFECT = "upstream-defect:"

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the conformance folder is not here")


def load(name: str) -> ModuleType:
    """Import one of the folder's scripts; they import each other by name."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def judges() -> dict[str, Any]:
    """The function that compares, by kind. That for MPIJobs puts itself in place of the other."""
    compare = load("compare")
    trainjob = compare.judge
    load("mpi_view")
    return {"trainjob": trainjob, "mpijob": load("compare_mpi").judge}


JUDGES = judges() if FOLDER.is_dir() else {}


def cases(kind: str) -> list[Any]:
    files = sorted((FOLDER / kind).glob("*.json"))
    return [pytest.param(kind, file, id=f"{kind}-{file.stem}") for file in files]


@pytest.mark.parametrize(("kind", "file"), [*cases("trainjob"), *cases("mpijob")])
def test_a_case_gives_the_expected_outcome(kind: str, file: Path) -> None:
    case = json.loads(file.read_text())
    manifest = json.dumps({"apiVersion": "v1", "kind": "List", "items": case["inputs"]})

    result = CliRunner().invoke(app, ["explain", "-o", "json", "-f", "-"], input=manifest)

    assert "internal error" not in result.stderr
    assert result.exit_code in (0, 1)
    name = case["inputs"][0].get("metadata", {}).get("name", "")
    outcomes = [{**case[key], "job": name} for key in ("expect", "fixed") if key in case]
    reasons = [
        JUDGES[kind](outcome, result.exit_code, result.stdout, result.stderr)
        for outcome in outcomes
    ]
    has_defect = any(tag.startswith(DEFECT) for tag in case["covers"])
    set_aside = has_defect and "fixed" not in case
    assert set_aside or [] in reasons, reasons[-1]


def test_the_comparison_itself_agrees_over_the_command_line() -> None:
    names = [file.stem for file in sorted((FOLDER / "trainjob").glob("*.json"))[::25]]

    done = subprocess.run(
        [
            sys.executable,
            str(FOLDER / "compare.py"),
            *(part for name in names for part in ("--case", name)),
            "--cmd",
            f"{TRAINWAY} explain -o json",
            str(FOLDER / "trainjob"),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    assert done.returncode == 0, done.stdout
    assert f"/{len(names)} passed" in done.stdout
