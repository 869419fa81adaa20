import linecache
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from trainway.errors import UsageError
from trainway.sdk.function_source import standalone_source


class Notebook:
    """Runs cells as a kernel does: each with a name of its own, in a main module without a file."""

    def __init__(self, main: ModuleType) -> None:
        self.main = main
        self.names: list[str] = []

    def run(self, text: str) -> None:
        name = f"/no/such/kernel/{len(self.names)}.py"
        self.names.append(name)
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        exec(compile(text, name, "exec"), vars(self.main))  # noqa: S102 - what a kernel does

    def __getitem__(self, name: str) -> Any:
        return vars(self.main)[name]


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Notebook]:
    main = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)
    found = Notebook(main)
    yield found
    for name in found.names:
        del linecache.cache[name]


def sent(notebook: Notebook, function: str = "train") -> Any:
    """What the function returns where only its text arrives."""
    scope: dict[str, Any] = {"__name__": "elsewhere"}
    source = standalone_source(notebook[function])
    sys.modules["elsewhere"] = ModuleType("elsewhere")
    try:
        exec(source, scope)  # noqa: S102 - as in a job
        return scope[function]()
    finally:
        del sys.modules["elsewhere"]


def test_a_class_of_another_cell_travels(notebook: Notebook) -> None:
    notebook.run("class Model:\n    def size(self):\n        return 3\n")
    notebook.run("def train():\n    return Model().size()\n")
    assert sent(notebook) == 3


def test_a_class_without_methods_travels_with_its_decorator_and_its_base(
    notebook: Notebook,
) -> None:
    notebook.run("from dataclasses import dataclass\nclass Base:\n    kind = 'base'\n")
    notebook.run("@dataclass\nclass Config(Base):\n    rate: float = 0.5\n")
    notebook.run("def train():\n    return Config().rate, Config.kind\n")
    assert sent(notebook) == (0.5, "base")


def test_of_a_cell_that_ran_twice_the_latest_counts(notebook: Notebook) -> None:
    notebook.run("class Config:\n    rate = 1\n")
    notebook.run("class Config:\n    rate = 2\n")
    notebook.run("def train():\n    return Config.rate\n")
    assert sent(notebook) == 2


def test_a_class_that_no_cell_has_is_named(notebook: Notebook) -> None:
    vars(notebook.main)["Made"] = type("Made", (), {"__module__": "__main__"})
    notebook.run("def train():\n    return Made()\n")
    with pytest.raises(UsageError, match="the source of Made cannot be found"):
        standalone_source(notebook["train"])
