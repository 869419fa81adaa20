"""A function call as a command: what travels to the job, and what comes back.

The function goes as source and its arguments as JSON, or as a pickle where JSON would change them;
`function_boot` makes the call in the job, and leaves the value that the first rank returns in the
job's output directory.
"""

import base64
import json
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from trainway.errors import NotFoundError, TrainwayError, UsageError
from trainway.sdk.function_source import standalone_source, unwrapped

RESULT: Final = Path(".trainway", "result.json")

_LONGEST_PIECE: Final = 100_000
"""Bytes of one argument; Linux takes 128 KiB less one."""
_LARGEST: Final = 1_000_000
"""Bytes in all. A Kubernetes object may have 1.5 MB, and a command line on Linux about 2 MB."""


@dataclass(frozen=True)
class FunctionCall:
    """A call that is ready to travel."""

    function: str
    source: str
    encoding: str
    arguments: str
    packages: tuple[str, ...] = ()
    index_urls: tuple[str, ...] = ()

    def command(self) -> list[str]:
        """What makes the call; a launcher may stand before it."""
        return ["python", "-c", _boot()]

    def args(self) -> list[str]:
        """The arguments of the command."""
        source = _pieces(self.source)
        head = {
            "function": self.function,
            "file": f"{self.function}.py",
            "encoding": self.encoding,
            "packages": list(self.packages),
            "index_urls": list(self.index_urls),
            "pieces": len(source),
        }
        return [json.dumps(head), *source, *_pieces(self.arguments)]


def captured(
    func: Callable[..., Any],
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    packages: Sequence[str] = (),
    index_urls: Sequence[str] = (),
) -> FunctionCall:
    """The call of a function with these arguments."""
    plain, first, named = unwrapped(func)
    encoding, arguments = _encoded([*first, *args], {**named, **(kwargs or {})}, plain.__name__)
    source = standalone_source(plain)
    if len(source) + len(arguments) > _LARGEST:
        size = (len(source) + len(arguments)) / 1e6
        raise UsageError(
            f"{plain.__name__} and its arguments are {size:.1f} MB, and at most 1 MB can travel",
            hint="write the data to a file and pass its path",
        )
    name = plain.__name__
    return FunctionCall(name, source, encoding, arguments, tuple(packages), tuple(index_urls))


def function_result(output_dir: Path) -> Any:
    """The value that the first rank returned."""
    try:
        result = json.loads((output_dir / RESULT).read_text("utf-8"))
    except FileNotFoundError:
        raise NotFoundError(f"the job left no result in {output_dir}") from None
    if result["encoding"] == "json":
        return result["value"]
    if result["encoding"] == "none":
        raise TrainwayError(
            f"the function returned a {result['type']}, which cannot be sent: {result['value']}",
            hint="return plain data, and write the rest to TRAINWAY_OUTPUT_DIR",
        )
    return pickle.loads(base64.b64decode(result["value"]))  # noqa: S301 - the caller's own job


def _encoded(args: list[Any], kwargs: dict[str, Any], name: str) -> tuple[str, str]:
    try:
        text = json.dumps([args, kwargs])
        if json.loads(text) == [args, kwargs]:
            return "json", text
    except Exception:  # noqa: BLE001, S110 - whatever an argument's own comparison raises
        pass
    try:
        return "pickle", base64.b64encode(pickle.dumps((args, kwargs), protocol=4)).decode()
    except Exception as error:
        raise UsageError(f"the arguments of {name} cannot be sent: {error}") from error


def _boot() -> str:
    return Path(__file__).with_name("function_boot.py").read_text("utf-8")


def _pieces(text: str) -> list[str]:
    """The text in pieces, none longer than the kernel takes; characters stay whole."""
    size = _LONGEST_PIECE if text.isascii() else _LONGEST_PIECE // 4
    return [text[start : start + size] for start in range(0, len(text), size)] or [""]
