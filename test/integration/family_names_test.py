"""Outside its folder and its row no code branches on the name of a family or imports its folder."""

import ast
from collections.abc import Iterator
from pathlib import Path

import trainway
from trainway.families.builtin import BUILTIN

SOURCES = Path(trainway.__file__).parent
APART = ("agent", "families")
"""The agents are the other half of backends and import nothing of ours; the rows are the table."""
WORDS_OF_TASKS = "the names of SkyPilot's clouds, in which tasks are written"
PROGRAM = "the program ssh, which a person's shell becomes"
ALLOWED = {
    "api/task/volume.py": WORDS_OF_TASKS,
    "compiler/task.py": WORDS_OF_TASKS,
    "cli/attach.py": PROGRAM,
    "cli/commands/ssh.py": PROGRAM,
}
PREFIXES = ("startswith", "removeprefix")
FOLDERS = {name: row.backend.split(".")[2] for name, row in BUILTIN.items()}


def modules() -> Iterator[tuple[str, ast.Module]]:
    """The modules whose code must not know a family, tests and what serves them left out."""
    for path in sorted(SOURCES.rglob("*.py")):
        name = path.relative_to(SOURCES).as_posix()
        is_test = path.stem.endswith("_test") or "testing" in path.stem or "conftest" in path.stem
        if not is_test and name.split("/")[0] not in APART:
            yield name, ast.parse(path.read_text())


def is_own(module: str, family: str) -> bool:
    return module.startswith(f"backends/{FOLDERS[family]}/")


def names_in(node: ast.AST) -> Iterator[str]:
    """The families whose names are among the literals below a node."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield from (
                name
                for name in BUILTIN
                if inner.value == name or inner.value.startswith(f"{name}/")
            )


def branches(tree: ast.Module) -> Iterator[ast.AST]:
    """What a module compares with, or looks up by."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare | ast.MatchValue):
            yield node
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in PREFIXES:
            yield from node.args


def test_no_code_branches_on_the_name_of_a_family() -> None:
    found = {
        f"{module}:{getattr(node, 'lineno', 0)} knows {family!r}"
        for module, tree in modules()
        for node in branches(tree)
        for family in names_in(node)
        if module not in ALLOWED and not is_own(module, family)
    }
    assert not found


def test_what_is_allowed_is_needed() -> None:
    needed = {name for name, tree in modules() for node in branches(tree) if set(names_in(node))}
    assert set(ALLOWED) <= needed


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_no_code_outside_the_backends_imports_the_folder_of_one() -> None:
    found = {
        f"{module} imports {name}"
        for module, tree in modules()
        for name in imported(tree)
        for folder in FOLDERS.values()
        if name.startswith(f"trainway.backends.{folder}.") and not module.startswith("backends/")
    }
    assert not found
