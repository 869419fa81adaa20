"""What makes the agent fit to be copied to any host, and quick to start."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from trainway.agent.base.launch import OF_TESTS, PACKAGE

MODULES = sorted(path for path in PACKAGE.rglob("*.py") if not path.name.endswith(OF_TESTS))
SLOW = {"asyncio", "dataclasses", "inspect", "logging", "pathlib", "socket", "subprocess", "typing"}


class WithoutTypes(ast.NodeTransformer):
    """Leaves out what only the type checker reads."""

    def visit_If(self, node: ast.If) -> ast.AST | None:
        is_for_types = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        return None if is_for_types else self.generic_visit(node)


def imported(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(WithoutTypes().visit(tree)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE))[:-3])
def test_python_3_8_and_its_standard_library_are_enough(path: Path) -> None:
    tree = ast.parse(path.read_text(), feature_version=(3, 8))
    names = imported(tree)
    others = {name.split(".")[0] for name in names} - set(sys.stdlib_module_names)
    assert others <= {"trainway"}
    assert all(name.startswith("trainway.agent") for name in names if name.startswith("trainway"))


def modules_of(name: str) -> set[str]:
    """What a new process has imported after one module."""
    script = (
        f"import sys; sys.path.insert(0, {str(PACKAGE.parents[1])!r});"
        f"import trainway.agent.__main__, {name}; print(*sys.modules)"
    )
    line = [sys.executable, "-I", "-S", "-c", script]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_starting_imports_nothing_slow() -> None:
    assert SLOW & modules_of("trainway.agent.local.main") == set()


@pytest.mark.parametrize("name", ["join", "rsh"])
def test_what_starts_for_every_rank_imports_little(name: str) -> None:
    found = modules_of(f"trainway.agent.host.entry, trainway.agent.host.{name}")
    assert SLOW & found <= {"socket"}
    rooms = {module.split(".")[2] for module in found if module.startswith("trainway.agent.")}
    assert rooms <= {"__main__", "base", "host", "kubelet"}
    assert len([module for module in found if module.startswith("trainway.")]) < 20
