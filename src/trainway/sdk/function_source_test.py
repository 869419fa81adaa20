import functools
import math
import urllib.parse
from collections import OrderedDict as Ordered
from collections.abc import Callable
from dataclasses import dataclass
from math import floor
from typing import Any

import pytest

from trainway.errors import UsageError
from trainway.sdk.function_source import standalone_source, unwrapped

RATE = 0.5
NAMES = ("a", {"b": [1, None]})
OPENED = object()


def decorator(func: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(func)
    def wrapper(*_args: Any) -> Any:
        raise AssertionError

    return wrapper


def run(func: Callable[..., Any], *args: Any) -> Any:
    """What the text gives when it stands alone."""
    plain, first, named = unwrapped(func)
    scope: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(standalone_source(plain), "<text>", "exec"), scope)  # noqa: S102 - as in a job
    return scope[plain.__name__](*first, *args, **named)


def plain(x: int, y: "Ordered[str, int] | None" = None) -> int:
    return x + 1


def with_modules(x: float) -> Any:
    return math.sqrt(x), floor(x), urllib.parse.quote(" "), list(Ordered(a=1))


def with_constants() -> Any:
    return RATE, NAMES


@dataclass
class Point:
    x: int

    def shifted(self) -> "Point":
        return Point(self.x + helper())


def helper() -> int:
    return recursive(3)


def recursive(n: int) -> int:
    return n + recursive(n - 1) if n else 0


def with_neighbours(x: int) -> Any:
    return Point(x).shifted().x


@decorator
@functools.lru_cache(
    maxsize=3,
)
def decorated(x: int) -> int:
    return x * 2


def with_default(x: int, rate: float = RATE) -> float:
    return x * rate


async def coroutine() -> int:
    return 1


def with_strange_text() -> str:
    return "$(HOME) `x` $$ \\n"


def with_unknown_name(flag: bool) -> Any:
    return not_there if flag else 1  # type: ignore[name-defined]  # noqa: F821 - the test needs one


def with_outside() -> Any:
    return OPENED


@pytest.mark.parametrize(
    ("func", "args", "value"),
    [
        (plain, (1,), 2),
        (with_modules, (2.25,), (1.5, 2, "%20", ["a"])),
        (with_constants, (), (RATE, NAMES)),
        (with_neighbours, (1,), 7),
        (decorated, (4,), 8),
        (with_default, (4,), 2.0),
        (with_strange_text, (), "$(HOME) `x` $$ \\n"),
        (with_unknown_name, (False,), 1),
        (functools.partial(with_default, 3, rate=2.0), (), 6.0),
    ],
)
def test_a_function_stands_alone(func: Callable[..., Any], args: Any, value: Any) -> None:
    assert run(func, *args) == value


def test_a_nested_function_keeps_its_strings_and_its_surroundings() -> None:
    factor = 3

    def inner(x: int) -> Any:
        return (
            x * factor,
            """
  two
    four""",
        )

    assert run(inner, 2) == (6, "\n  two\n    four")


def test_a_nested_function_moves_to_the_margin() -> None:
    def inner() -> int:
        return 1

    plain, _, _ = unwrapped(inner)
    assert standalone_source(plain).endswith("\ndef inner() -> int:\n    return 1\n")


def test_a_module_behind_a_dot_is_imported() -> None:
    plain, _, _ = unwrapped(with_modules)
    assert "\nimport urllib.parse\n" in standalone_source(plain)


def test_decorators_are_left_out() -> None:
    plain, _, _ = unwrapped(decorated)
    assert "@" not in standalone_source(plain)


class Callable_:  # noqa: N801 - named for what it is
    def __call__(self) -> None:
        pass


@pytest.mark.parametrize(
    ("func", "message"),
    [
        (lambda: 1, "a lambda cannot be sent as source"),
        (len, "<built-in function len> cannot be sent as source"),
        (Callable_(), "cannot be sent as source"),
        (Callable_().__call__, "cannot be sent as source"),
        (with_outside, 'with_outside uses "OPENED" from outside, a object'),
    ],
)
def test_what_cannot_travel_is_refused(func: Callable[..., Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        run(func)


def test_a_function_without_source_is_refused() -> None:
    scope: dict[str, Any] = {"__name__": "typed"}
    exec("def typed(): pass", scope)  # noqa: S102 - as typed at a prompt
    with pytest.raises(UsageError, match="the source of typed cannot be found"):
        run(scope["typed"])
