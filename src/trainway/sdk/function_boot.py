"""Calls a function that was sent as text, inside the job.

The text of this file is the program of `python -c`, so the job needs no Trainway: it keeps to the
standard library of Python 3.8. Arguments: a JSON head, then the pieces of the function's source and
of its own arguments, which are in pieces because the kernel limits the length of one. In a pod it
is a file, and its one argument names a file with all of that: `@/path`.

The source becomes a file, for tracebacks and for processes that import it again. The value that the
first rank returns is written where the server looks for it. From a pod no file comes back, so it is
written to the log in marked lines, which the server takes out of it.
"""

from __future__ import annotations

import base64
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "JOB_COMPLETION_INDEX")

MARK = "\x1etrainway-result"
"""A line that has a piece of the value in it begins with this."""
PIECE = 3_000
"""How many characters a piece has: what a pipe takes at once is not torn apart by other ranks."""
TAG = "__trainway__"
"""The key of an object that stands for data that JSON does not have."""
LARGEST = 4_000_000
"""The most characters of a value in a log; a kubelet keeps 10 MB of a log together."""
LARGEST_FILE = 1 << 24
"""The most bytes of a value that is written to a file, for the server to read."""


def run(argv: list[str]) -> None:
    """Do all of it."""
    print_whole_lines()
    head, source, arguments = read(argv)
    is_sent = head.get("result") == "log"
    folder = scratch_folder(is_shared=is_sent)
    if head["packages"]:
        # What is in the output folder may be copied elsewhere; packages are not worth that.
        work = os.environ.get("TRAINWAY_WORK_DIR")
        install(head["packages"], head["index_urls"], Path(work) if work else folder)
    path = folder / head["file"]
    write(path, source)
    module = type(sys)("__main__")
    module.__file__ = str(path)
    sys.modules["__main__"] = module
    sys.argv = [str(path)]
    exec(compile(source, str(path), "exec"), module.__dict__)  # noqa: S102 - what this is for
    args, kwargs = decoded(head["encoding"], arguments)
    kwargs = {**kwargs, **parameters(os.environ.get("TRAINWAY_PARAMETERS", ""))}
    value = getattr(module, head["function"])(*args, **kwargs)
    if hasattr(value, "__await__"):
        import asyncio  # noqa: PLC0415 - seldom needed, slow to import

        value = asyncio.run(awaited(value))
    kind = type(value).__name__
    if is_first() and is_sent:
        sys.stdout.flush()
        for line in lines(bounded(encoded(value), kind), kind, time.time_ns()):
            os.write(1, line)
    elif is_first():
        write(folder / "result.json", bounded(encoded(value), kind))


def parameters(text: str) -> dict[str, Any]:
    """The parameters of a trial of a sweep: what is JSON, as that, and all else as text."""
    found = {}
    for name, value in (json.loads(text) if text else {}).items():
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def print_whole_lines() -> None:
    """Write a line and its end at once, so that no line of another rank comes between them.

    Unbuffered, as PYTHONUNBUFFERED has it, print() makes two writes of one line.
    """
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(line_buffering=True, write_through=False)


def read(argv: list[str]) -> tuple[Any, str, str]:
    """Head, source and arguments: from words, or from a file."""
    if argv[0].startswith("@"):
        call = json.loads(Path(argv[0][1:]).read_text("utf-8"))
        return call["head"], call["source"], call["arguments"]
    head = json.loads(argv[0])
    count = head["pieces"]
    return head, "".join(argv[1 : 1 + count]), "".join(argv[1 + count :])


def scratch_folder(*, is_shared: bool) -> Path:
    """A folder of the job's own: the same one in every attempt, where there is such a thing.

    A pod's processes share one, since a pod has its temporary files for itself.
    """
    output = os.environ.get("TRAINWAY_OUTPUT_DIR")
    if output:
        folder = Path(output, ".trainway")
    elif is_shared:
        folder = Path(tempfile.gettempdir(), f"trainway-{os.getuid()}")
    else:
        return Path(tempfile.mkdtemp(prefix="trainway-"))
    folder.mkdir(mode=0o777 if output else 0o700, parents=True, exist_ok=True)
    return folder


def lines(text: str, kind: str, moment: int) -> list[bytes]:
    """The lines of the log that carry the text of a value, and say when and of how many each is."""
    data = base64.b64encode(zlib.compress(text.encode("utf-8"))).decode()
    if len(data) > LARGEST:
        text = json.dumps({"encoding": "large", "type": kind, "value": len(text)})
        data = base64.b64encode(zlib.compress(text.encode("utf-8"))).decode()
    pieces = [data[start : start + PIECE] for start in range(0, len(data), PIECE)]
    return [
        f"{MARK} {moment} {number} {len(pieces)} {piece}\n".encode()
        for number, piece in enumerate(pieces)
    ]


def bounded(text: str, kind: str) -> str:
    """The text of a value, or of why it is not here: the server reads none that is larger."""
    if len(text.encode("utf-8", "surrogatepass")) <= LARGEST_FILE:
        return text
    return json.dumps({"encoding": "large", "type": kind, "value": len(text)})


def is_first() -> bool:
    """Whether this process is the first of its job."""
    ranks = [os.environ[name] for name in RANKS if name in os.environ]
    return not ranks or ranks[0] == "0"


def write(path: Path, text: str) -> None:
    """Write a file at once, since all ranks do it at the same time."""
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_text(text, "utf-8", "surrogatepass")
    part.replace(path)


async def awaited(value: Any) -> Any:
    """What a coroutine returns."""
    return await value


def decoded(encoding: str, text: str) -> tuple[Any, Any]:
    """The positional and the named arguments."""
    if encoding == "json":
        args, kwargs = json.loads(text)
    else:
        args, kwargs = pickle.loads(base64.b64decode(text))  # noqa: S301 - from the job's author
    return args, kwargs


def encoded(value: Any) -> str:
    """A value as text: JSON where that gives the same value back, with tags if need be.

    Of anything else there is a pickle, which is only read by those who say that they want it.
    """
    try:
        text = json.dumps(value, allow_nan=False)
        if json.loads(text) == value:
            return json.dumps({"encoding": "json", "value": value})
    except Exception:  # noqa: BLE001, S110 - whatever a value's own comparison raises
        pass
    kind = type(value).__name__
    try:
        return json.dumps({"encoding": "tagged", "value": tagged(value)})
    except (TypeError, RecursionError):
        pass
    try:
        data = base64.b64encode(pickle.dumps(value, protocol=4)).decode()
    except Exception as error:  # noqa: BLE001 - whatever a value's own pickling raises
        reason = f"{type(error).__name__}: {error}"
        return json.dumps({"encoding": "none", "type": kind, "value": reason})
    return json.dumps({"encoding": "pickle", "type": kind, "value": data})


def tagged(value: Any) -> Any:
    """Plain data in JSON: what JSON does not have becomes an object with a tag and its items."""
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        is_number = value - value == 0  # neither infinite nor NaN
        return value if is_number else {TAG: "float", "items": repr(value)}
    if kind is bytes:
        return {TAG: "bytes", "items": base64.b64encode(value).decode()}
    if kind is list:
        return [tagged(item) for item in value]
    if kind in (tuple, set, frozenset):
        return {TAG: kind.__name__, "items": [tagged(item) for item in value]}
    if kind is dict and TAG not in value and all(type(key) is str for key in value):
        return {key: tagged(item) for key, item in value.items()}
    if kind is dict:
        return {TAG: "dict", "items": [[tagged(key), tagged(value[key])] for key in value]}
    raise TypeError(kind.__name__)


def install(packages: list[str], index_urls: list[str], folder: Path) -> None:
    """Install what is missing into the job's own folder: one process does, the others wait."""
    import fcntl  # noqa: PLC0415 - not on Windows, where packages are the user's to install

    missing = [package for package in packages if not is_installed(package)]
    if not missing:
        return
    target, done = folder / "packages", folder / "packages.json"
    with (folder / "packages.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            pip_install(missing, index_urls, target)
            write(done, json.dumps(missing))
    sys.path.insert(0, str(target))
    paths = [str(target), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)


def pip_install(packages: list[str], index_urls: list[str], target: Path) -> None:
    """Run uv if it is there, else pip; what they say appears in the job's log."""
    uv = shutil.which("uv")
    pip = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
    if not uv and find_spec("pip") is None:
        sys.exit(f"there is neither uv nor pip to install with: {' '.join(packages)}")
    command = [uv, "pip", "install", "--python", sys.executable] if uv else pip
    urls = [
        part
        for position, url in enumerate(index_urls)
        for part in ("--extra-index-url" if position else "--index-url", url)
    ]
    names = " ".join(packages)
    print(f"installing {names}", flush=True)  # noqa: T201 - the job's log
    status = subprocess.call(  # noqa: S603 - what the job's author asks for
        [*command, "--quiet", "--target", str(target), *urls, *packages]
    )
    if status:
        sys.exit(f"the packages could not be installed: {names}")


def is_installed(package: str) -> bool:
    """Whether a package is there; of versions only NAME==VERSION is understood."""
    from importlib import metadata  # noqa: PLC0415 - only packages need it

    name, _, version = package.partition("==")
    try:
        found = metadata.version(name.strip())
    except Exception:  # noqa: BLE001 - not there, or not a plain name
        return False
    return not version or found == version.strip()


if __name__ == "__main__":
    run(sys.argv[1:])
