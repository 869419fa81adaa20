"""How one logs in to a machine, as `config.yaml` says it of hosts and of login nodes. Pure."""

from collections.abc import Iterable, Mapping
from typing import Final

from trainway.schema.shape import TEXT, Either, Items, Number, Shape, Table, Text, Word

COPY: Final = "copy"
KEEP: Final = "keep"
PYTHON: Final = "python3"
NAME: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}"
"""What a pool or a cluster may be called: it is also the name of a directory."""

HOST_NAME: Final = Text(r"[^\s/@-][^\s/]*", "must be the name or address of a host")
OUTPUTS: Final = Word((COPY, KEEP), any_case=False)
LOGIN: Final[Mapping[str, Shape]] = {
    "user": Text(r"[^\s@-][^\s@]*", "must be the name of a user"),
    "port": Number(whole=True, least=1, most=65_535),
    "identity": Text(r".+", "must be the path of a key"),
    "python": Text(r"\S.*", "must be a program"),
    "env": Table(Either((TEXT, Number())), key="[A-Za-z_][A-Za-z0-9_]*"),
    "options": Items(TEXT),
}


def expanded(path: str, home: str) -> str:
    """A path in which `~` stands for that home."""
    return f"{home}{path[1:]}" if path == "~" or path.startswith("~/") else path


def all_expanded(words: Iterable[str], home: str) -> tuple[str, ...]:
    """Arguments of ssh, some of which may be paths."""
    return tuple(expanded(word, home) for word in words)


def variables(given: Mapping[str, str | float]) -> dict[str, str]:
    """Variables of an environment, whose values may be numbers."""
    return {
        name: f"{value:g}" if isinstance(value, float) else str(value)
        for name, value in given.items()
    }
