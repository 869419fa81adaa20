"""Outside its folder and its row no code branches on the name of a family or imports its folder."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import trainway
from trainway.families.builtin import BUILTIN

SOURCES = Path(trainway.__file__).parent
APART = ("agent", "families")
"""The agents are the other half of backends and import nothing of ours; the rows are the table."""
WORDS_OF_TASKS = "the names of SkyPilot's clouds, in which tasks are written"
PROGRAM = "the program ssh, not the family of that name"
ALLOWED = {
    "api/task/volume.py": WORDS_OF_TASKS,
    "backends/pod_program.py": PROGRAM,
    "cli/attach.py": PROGRAM,
    "providers/aws/instance_types.py": "a strategy of placement groups, as AWS calls it",
    "cli/commands/ssh.py": PROGRAM,
}
PREFIXES = ("startswith", "removeprefix")
FOLDERS = {name: row.backend.split(".")[2] for name, row in BUILTIN.items()}


@dataclass(frozen=True)
class Source:
    """What is asked of a module; its tree, which is large, is not kept."""

    texts: Mapping[str, str]
    """The texts that it has names for."""
    imported: tuple[ast.ImportFrom, ...]
    names: tuple[str, ...]
    """All that it imports, by dotted names."""
    branches: tuple[ast.AST, ...]
    """What it compares with, or looks up by."""

    @classmethod
    def parsed(cls, text: str) -> "Source":
        tree = ast.parse(text)
        nodes = list(ast.walk(tree))
        imported = tuple(node for node in nodes if isinstance(node, ast.ImportFrom) and node.module)
        names = (
            *(each.name for node in nodes if isinstance(node, ast.Import) for each in node.names),
            *(f"{node.module}.{each.name}" for node in imported for each in node.names),
        )
        return cls(constants(tree), imported, names, tuple(branches(nodes)))


@cache
def source(path: Path) -> Source:
    return Source.parsed(path.read_text())


@pytest.fixture(scope="module")
def modules() -> dict[str, Source]:
    """The modules whose code must not know a family, tests and what serves them left out."""
    found = {}
    for path in sorted(SOURCES.rglob("*.py")):
        name = path.relative_to(SOURCES).as_posix()
        is_test = path.stem.endswith("_test") or "testing" in path.stem or "conftest" in path.stem
        if not is_test and name.split("/")[0] not in APART:
            found[name] = source(path)
    return found


@pytest.fixture(scope="module")
def known(modules: Mapping[str, Source]) -> set[tuple[str, int, str]]:
    """Where a module branches on the name of a family: the module, the line, the family."""
    return {
        (module, getattr(node, "lineno", 0), family)
        for module, read in modules.items()
        for texts in [known_texts(read)]
        for node in read.branches
        for family in names_in(node, texts)
    }


def is_own(module: str, family: str) -> bool:
    return module.startswith(f"backends/{FOLDERS[family]}/")


def constants(tree: ast.Module) -> dict[str, str]:
    """The texts that a module has names for."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.AnnAssign | ast.Assign) and isinstance(node.value, ast.Constant):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name) and isinstance(node.value.value, str):
                    found[target.id] = node.value.value
    return found


def constants_of(module: str) -> Mapping[str, str]:
    """Those of a module by its dotted name; the roles that the table names are no names."""
    path = SOURCES.joinpath(*module.split(".")[1:]).with_suffix(".py")
    is_known = module.startswith("trainway.") and not module.startswith("trainway.families")
    return source(path).texts if is_known and path.is_file() else {}


def known_texts(read: Source) -> dict[str, str]:
    """What the names of a module stand for, its own and those that it imports."""
    found = dict(read.texts)
    for node in read.imported:
        texts = constants_of(node.module or "")
        found |= {
            alias.asname or alias.name: texts[alias.name]
            for alias in node.names
            if alias.name in texts
        }
    return found


def names_in(node: ast.AST, texts: Mapping[str, str]) -> Iterator[str]:
    """The families whose names are below a node: as literals, or as constants."""
    for inner in ast.walk(node):
        text = texts.get(inner.id) if isinstance(inner, ast.Name) else None
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            text = inner.value
        if text is not None:
            yield from (name for name in BUILTIN if text == name or text.startswith(f"{name}/"))


def branches(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """What a module compares with, or looks up by."""
    for node in nodes:
        if isinstance(node, ast.Compare | ast.MatchValue):
            yield node
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in PREFIXES:
            yield from node.args


def test_no_code_branches_on_the_name_of_a_family(known: set[tuple[str, int, str]]) -> None:
    found = {
        f"{module}:{line} knows {family!r}"
        for module, line, family in known
        if module not in ALLOWED and not is_own(module, family)
    }
    assert not found


def test_what_is_allowed_is_needed(known: set[tuple[str, int, str]]) -> None:
    assert set(ALLOWED) <= {module for module, _, _ in known}


def test_no_code_outside_its_folder_imports_the_folder_of_a_backend(
    modules: Mapping[str, Source],
) -> None:
    found = {
        f"{module} imports {name}"
        for module, read in modules.items()
        for name in read.names
        for folder in FOLDERS.values()
        if f"{name}.".startswith(f"trainway.backends.{folder}.")
        and not module.startswith(f"backends/{folder}/")
    }
    assert not found
