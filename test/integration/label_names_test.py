"""Each label and annotation has one name, in `jobset/labels.py`; nobody else spells it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import trainway
from trainway.agent.base import labels as agent_labels
from trainway.jobset import labels

PACKAGE = Path(trainway.__file__).parent
NAMES = {name: value for name, value in vars(labels).items() if name.isupper()}
MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if not path.name.endswith("_test.py")]
AGENT_NAMES = {name: value for name, value in vars(agent_labels).items() if name.isupper()}
OWN = {Path(labels.__file__), Path(agent_labels.__file__)}


def texts(text: str) -> Iterator[str]:
    """All strings of a module that are not docstrings."""
    nodes = list(ast.walk(ast.parse(text)))
    said = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.value


def test_no_two_labels_are_the_same() -> None:
    assert len(set(NAMES.values())) == len(NAMES)


def test_no_other_module_spells_a_label() -> None:
    names = {*NAMES.values(), *AGENT_NAMES.values()}
    spelled = re.compile("|".join(rf"{re.escape(name)}(?![\w.-])" for name in names))
    domains = {name.partition("/")[0] for name in names}
    modules = ((path, path.read_text("utf-8")) for path in MODULES if path not in OWN)
    found = [
        f"{path.relative_to(PACKAGE)}: {text}"
        for path, source in modules
        if any(domain in source for domain in domains)  # parsing all of them takes many seconds
        for text in texts(source)
        if spelled.fullmatch(text) or spelled.search(text.partition("[")[2])
    ]
    assert found == ["sdk/bundle.py: trainway.dev/files"]  # who applies an object, not a label


def test_agents_have_the_same_names() -> None:
    shared = NAMES.keys() & AGENT_NAMES.keys()
    assert {name: AGENT_NAMES[name] for name in shared} == {name: NAMES[name] for name in shared}
    common = set(NAMES.values()) & set(AGENT_NAMES.values())
    assert common == {NAMES[name] for name in shared}
    assert {"COMPLETION_INDEX", "REPLICATED_JOB_NAME", "RESTART_ATTEMPT"} <= shared
