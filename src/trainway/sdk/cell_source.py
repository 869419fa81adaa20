"""The source of a class that was defined in a cell of a notebook.

`inspect` finds a function in a cell by the name that its code has there. A class has no code of its
own, and its module is `__main__`, which in a notebook is no file: so its text is looked up in the
cells themselves, which a notebook keeps where Python looks for the lines of tracebacks.
"""

import ast
import linecache
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType


def class_source(kind: type) -> str | None:
    """The text of a class, with its decorators, from the latest cell that has it; None: no cell."""
    for lines in _cells(kind):
        found = _defined(kind.__name__, lines)
        if found:
            return found
    return None


def _cells(kind: type) -> Iterator[list[str]]:
    """The cells, first those in which the methods of the class stand, then the latest first."""
    methods = [value for value in vars(kind).values() if isinstance(value, FunctionType)]
    for file in dict.fromkeys(method.__code__.co_filename for method in methods):
        yield linecache.getlines(file)
    for file in reversed(list(linecache.cache)):
        if not Path(file).exists():
            yield linecache.getlines(file)


def _defined(name: str, lines: list[str]) -> str | None:
    try:
        body = ast.parse("".join(lines)).body
    except (SyntaxError, ValueError):  # a cell with a command of the notebook in it
        return None
    for node in reversed(body):
        if isinstance(node, ast.ClassDef) and node.name == name:
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            return "".join(lines[first - 1 : node.end_lineno])
    return None
