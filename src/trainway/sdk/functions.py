"""A function call as a command: what travels to the job, and what comes back.

The function goes as source and its arguments as JSON, or as a pickle where JSON would change them;
`function_boot` makes the call in the job, and leaves the value that the first rank returns in the
job's output directory, as JSON. On this machine all of it is words of a command. To pods it travels
as files, and the value comes back in lines of the log, which the server takes out of it.
"""

import base64
import json
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from trainway.errors import TrainwayError, UsageError
from trainway.sdk.bundle import place
from trainway.sdk.function_boot import TAG
from trainway.sdk.function_source import source_folder, standalone_source, unwrapped

_LONGEST_PIECE: Final = 100_000
"""The most bytes of one argument; Linux takes 128 KiB less one."""
_LARGEST: Final = 1_000_000
"""The most bytes of all words of a command; on Linux it may have about 2 MB."""
_LARGEST_FILE: Final = 60_000_000
"""The most bytes of a call that goes as a file."""
_COLLECTIONS: Final[Mapping[str, Callable[[Iterable[Any]], Any]]] = {
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
}
_BOOT_FILE: Final = "trainway_boot.py"
_CALL_FILE: Final = "trainway_call.json"


@dataclass(frozen=True)
class FunctionCall:
    """A call that is ready to travel."""

    function: str
    source: str
    encoding: str
    arguments: str
    packages: tuple[str, ...] = ()
    index_urls: tuple[str, ...] = ()
    folder: Path | None = None
    """Where the modules are that are the author's own, if there is such a place."""

    def command(self) -> list[str]:
        """What makes the call; a launcher may stand before it."""
        return ["python", "-c", _boot()]

    def args(self) -> list[str]:
        """The arguments of the command."""
        self._check_size(_LARGEST, "write the data to a file and pass the path of the file")
        source = _pieces(self.source)
        head = {**self._head(), "pieces": len(source)}
        return [json.dumps(head), *source, *_pieces(self.arguments)]

    def command_of_files(self, python: str = "python") -> list[str]:
        """What makes the call in a pod that has the files."""
        return [python, place(_BOOT_FILE), f"@{place(_CALL_FILE)}"]

    def files(self, *, returns_by_log: bool = True) -> dict[str, bytes]:
        """The call as files for a pod; the value comes back through the log, or as a file."""
        self._check_size(
            _LARGEST_FILE, "put the data where the pods can read it: a volume, or a store"
        )
        call = {
            "head": {**self._head(), **({"result": "log"} if returns_by_log else {})},
            "source": self.source,
            "arguments": self.arguments,
        }
        return {_BOOT_FILE: _boot().encode(), _CALL_FILE: json.dumps(call).encode()}

    def _check_size(self, largest: int, hint: str) -> None:
        size = len(self.source) + len(self.arguments)
        if size > largest:
            raise UsageError(
                f"{self.function} and its arguments are {size / 1e6:.1f} MB, and at most "
                f"{largest // 1_000_000} MB can travel",
                hint=hint,
            )

    def _head(self) -> dict[str, Any]:
        return {
            "function": self.function,
            "file": f"{self.function}.py",
            "encoding": self.encoding,
            "packages": list(self.packages),
            "index_urls": list(self.index_urls),
        }


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
    return FunctionCall(
        plain.__name__,
        source,
        encoding,
        arguments,
        tuple(packages),
        tuple(index_urls),
        source_folder(plain),
    )


def decoded_result(result: Mapping[str, Any], *, allow_pickle: bool = False) -> Any:
    """The value that the first rank returned, from what came back of it.

    Whoever can write the job's files decides what comes back, and reading a pickle runs what it
    says; so that is done only for those who allow it.
    """
    try:
        return _value(result, allow_pickle=allow_pickle)
    except TrainwayError:
        raise
    except Exception as error:
        raise TrainwayError(
            f"the value that the function returned cannot be read: {type(error).__name__}: {error}",
            hint="the job itself may have written to .trainway/ in its TRAINWAY_OUTPUT_DIR",
        ) from error


def _value(result: Mapping[str, Any], *, allow_pickle: bool) -> Any:
    encoding, value = result["encoding"], result["value"]
    if encoding == "json":
        return value
    if encoding == "tagged":
        return _untagged(value)
    kind = result.get("type") or "value"
    if encoding == "none":
        raise TrainwayError(
            f"the function returned a {kind}, which cannot be sent: {value}",
            hint="return plain data, and write the rest to TRAINWAY_OUTPUT_DIR",
        )
    if encoding == "large":
        raise TrainwayError(
            f"the function returned a {kind} of {value / 1e6:.1f} MB, too much to come back",
            hint="write it to TRAINWAY_OUTPUT_DIR or to an object store, and return the path",
        )
    if encoding != "pickle":
        raise ValueError(f"the encoding {encoding!r} is unknown")
    if not allow_pickle:
        raise TrainwayError(
            f"the function returned a {kind}, which is not plain data and came back as a pickle",
            hint="return numbers, text, lists and dicts; or use result(allow_pickle=True), which "
            "runs whatever the pickle says, if you trust all who can write the job's files",
        )
    return pickle.loads(base64.b64decode(value))  # noqa: S301 - as the caller wants it


def _untagged(value: Any) -> Any:
    """What `function_boot.tagged` was given."""
    if isinstance(value, list):
        return [_untagged(item) for item in value]
    if not isinstance(value, dict):
        return value
    if TAG not in value:
        return {key: _untagged(item) for key, item in value.items()}
    tag, items = value[TAG], value["items"]
    if tag == "float":
        return float(items)
    if tag == "bytes":
        return base64.b64decode(items)
    if tag == "dict":
        return {_untagged(key): _untagged(item) for key, item in items}
    return _COLLECTIONS[tag](_untagged(item) for item in items)


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
