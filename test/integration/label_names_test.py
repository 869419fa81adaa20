"""Each label and annotation has one name, in `jobset/labels.py`; nobody else spells it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import trainway
from trainway.jobset import labels

PACKAGE = Path(trainway.__file__).parent
NAMES = {name: value for name, value in vars(labels).items() if name.isupper()}
MODULES = [
    path
    for path in sorted(PACKAGE.rglob("*.py"))
    if not path.name.endswith("_test.py") and path != Path(labels.__file__)
]
AGENT = PACKAGE / "agent"


def texts(path: Path) -> Iterator[str]:
    """All strings of a module that are not docstrings."""
    tree = ast.parse(path.read_text("utf-8"))
    statements = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    said = {id(node) for node in statements}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.value


def test_no_two_labels_are_the_same() -> None:
    assert len(set(NAMES.values())) == len(NAMES)


def test_no_other_module_spells_a_label() -> None:
    spelled = re.compile("|".join(rf"{re.escape(value)}(?![\w.-])" for value in NAMES.values()))
    found = [
        f"{path.relative_to(PACKAGE)}: {text}"
        for path in MODULES
        if AGENT not in path.parents
        for text in texts(path)
        if spelled.fullmatch(text) or spelled.search(text.partition("[")[2])
    ]
    assert found == ["sdk/bundle.py: trainway.dev/files"]  # who applies an object, not a label
