"""A function as text that stands on its own.

Its source goes along without decorators, and with it what it uses from outside: imports of modules
and of what they have, plain constants, and the functions and classes beside it. Anything else must
be an argument, and is named in the error.
"""

import ast
import builtins
import dis
import functools
import inspect
import sys
import sysconfig
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

from trainway.errors import UsageError
from trainway.sdk.cell_source import class_source

_FUTURE: Final = "from __future__ import annotations\n"
_GLOBAL_OPS: Final = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")


def unwrapped(func: Callable[..., Any]) -> tuple[FunctionType, tuple[Any, ...], dict[str, Any]]:
    """The plain function, and the arguments that partials of it carry already."""
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}
    while isinstance(func, functools.partial):
        args, kwargs = (*func.args, *args), {**func.keywords, **kwargs}
        func = func.func
    plain = inspect.unwrap(func)
    if not isinstance(plain, FunctionType):
        raise UsageError(f"{func!r} cannot be sent as source; define it with def")
    if plain.__name__ == "<lambda>":
        raise UsageError("a lambda cannot be sent as source; define a function with def")
    return plain, args, kwargs


def standalone_source(func: FunctionType) -> str:
    """Text of a module that defines the function and what it needs."""
    collected = _Collected(func)
    collected.add_definition(func.__name__, func, _own_source(func))
    parts = [_FUTURE, *sorted(collected.imports), *collected.constants, *collected.definitions]
    return "\n".join(parts)


def source_folder(func: FunctionType) -> Path | None:
    """Where modules of the function's author are: None where its file is an installed one."""
    try:
        file = Path(inspect.getsourcefile(func) or "").resolve()
    except TypeError:
        return None
    if not file.is_file():
        return Path.cwd()  # a notebook, or what was typed in
    module = "" if func.__module__ == "__main__" else func.__module__
    folder = file.parents[module.count(".") + (file.name == "__init__.py")]
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    installed = {Path(sysconfig.get_path(name)).resolve() for name in names}
    return None if installed.intersection((folder, *folder.parents)) else folder


class _Collected:
    """The parts of the text, gathered from the names that definitions use."""

    def __init__(self, func: FunctionType) -> None:
        self.imports: set[str] = set()
        self.constants: list[str] = []
        self.definitions: list[str] = []
        self._module = func.__module__
        self._seen: dict[str, object] = {}

    def add_definition(self, name: str, value: object, source: str) -> None:
        self._seen[name] = value
        scope = _scope(value)
        for used in _names_used(source):
            if used in scope:
                self._add(used, scope[used], name)
        self.imports.update(_submodule_imports(source, scope))
        self.definitions.append(source)

    def _add(self, name: str, value: object, user: str) -> None:
        if name in self._seen:
            if self._seen[name] is not value:
                raise UsageError(f'"{name}" means two things in what {user} uses')
            return
        self._seen[name] = value
        if isinstance(value, ModuleType):
            self.imports.add(_import(value.__name__, name))
        elif importable := self._importable(value):
            module, attribute = importable
            renamed = f" as {name}" if name != attribute else ""
            self.imports.add(f"from {module} import {attribute}{renamed}")
        elif isinstance(value, FunctionType | type):
            self.add_definition(name, value, _definition_source(value, name))
        elif _is_constant(value):
            self.constants.append(f"{name} = {value!r}")
        else:
            raise UsageError(
                f'{user} uses "{name}" from outside, a {type(value).__name__}, which does not '
                "travel with it",
                hint="pass it as an argument, or make it inside the function",
            )

    def _importable(self, value: object) -> tuple[str, str] | None:
        """Module and name under which another process finds the same object."""
        module = getattr(value, "__module__", None)
        name = getattr(value, "__qualname__", None)
        if not (isinstance(module, str) and isinstance(name, str)):
            return None
        if module in (self._module, "__main__") or "." in name:
            return None
        found = getattr(sys.modules.get(module), name, None)
        return (module, name) if found is value else None


def _own_source(func: FunctionType) -> str:
    """The source of the function to call, without decorators."""
    source = _definition_source(func, func.__name__)
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if node.name == func.__name__ and node.decorator_list:
            lines = source.splitlines(keepends=True)
            del lines[node.decorator_list[0].lineno - 1 : node.lineno - 1]
            return "".join(lines)
    return source


def _definition_source(value: FunctionType | type, name: str) -> str:
    try:
        source: str | None = inspect.getsource(value)
    except (OSError, TypeError):
        source = class_source(value) if isinstance(value, type) else None
    if source is None:
        raise UsageError(
            f"the source of {name} cannot be found", hint="define it in a file or in a notebook"
        )
    return _dedented(source)


def _dedented(source: str) -> str:
    """The text at the left margin, unless that would change a string in it."""
    if not source[:1].isspace():
        return source
    dedented, nested = textwrap.dedent(source), f"if True:\n{source}"
    (block,) = ast.parse(nested).body
    assert isinstance(block, ast.If)  # noqa: S101 - tells the type checker
    try:
        unchanged = ast.dump(ast.parse(dedented)) == ast.dump(ast.Module(block.body, []))
    except SyntaxError:
        unchanged = False
    return dedented if unchanged else nested


def _names_used(source: str) -> Iterator[str]:
    """The names that a text looks up outside of itself, in the order of their use."""
    seen: set[str] = set()
    for name in _global_names(compile(_FUTURE + source, "<function>", "exec")):
        if name not in seen and not hasattr(builtins, name):
            seen.add(name)
            yield name


def _global_names(code: CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname in _GLOBAL_OPS and isinstance(instruction.argval, str):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _global_names(constant)


def _submodule_imports(source: str, scope: Mapping[str, object]) -> Iterator[str]:
    """Imports of what stands behind dots: `import urllib` alone brings no `urllib.parse`."""
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        part: ast.AST = node
        while isinstance(part, ast.Attribute):
            names.insert(0, part.attr)
            part = part.value
        module = scope.get(part.id) if isinstance(part, ast.Name) else None
        if isinstance(module, ModuleType):
            paths = [".".join([module.__name__, *names[:end]]) for end in range(1, len(names) + 1)]
            yield from (f"import {path}" for path in paths if path in sys.modules)


def _scope(value: object) -> Mapping[str, object]:
    """What names mean where the value was defined."""
    if not isinstance(value, FunctionType):
        module = sys.modules.get(getattr(value, "__module__", ""))
        return vars(module) if module else {}
    scope = dict(value.__globals__)
    for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
        try:
            scope[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return scope


def _import(module: str, name: str) -> str:
    return f"import {module}" if module == name else f"import {module} as {name}"


def _is_constant(value: object) -> bool:
    try:
        return bool(ast.literal_eval(repr(value)) == value)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False
