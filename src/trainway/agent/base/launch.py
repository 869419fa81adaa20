"""How to start an agent from elsewhere: the command line, and a zip file to copy to a host.

The version of an agent is the digest of its sources, so that a host has the right file exactly if
it has a file of that name.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import shutil
import sys
import zipfile
from contextlib import suppress
from importlib.machinery import SourceFileLoader
from importlib.util import MAGIC_NUMBER, source_hash
from pathlib import Path
from types import CodeType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PACKAGE = Path(__file__).parents[1]
AGENT = "trainway/agent"
"""Its place in the zip file."""
ZIP_MAIN = """import sys

from trainway.agent.__main__ import main

sys.exit(main(sys.argv[1:]))
"""
OF_TESTS = ("_test.py", "testing.py", "conftest.py")
"""How the names of files end that only tests need: they do not travel."""
DIGITS = 16
EXIT_USAGE = 2
UNCHECKED = 1
"""The flag of bytecode that belongs to its source whatever that says."""
LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The time of every file in the zip, so that equal sources give equal bytes."""


def command(job_directory: str, *options: str, python: str = "") -> list[str]:
    """The arguments that start an agent on this machine.

    Isolated and without `site`, since the agent needs neither and starts in a third of the time.
    """
    return [python or sys.executable, "-I", "-S", str(PACKAGE), *options, job_directory]


def host_command(home: str, *options: str, python: str = "") -> list[str]:
    """The arguments that connect to the host agent of this machine, which needs no SSH.

    It tells no other agent what it holds: this machine may be many such hosts.
    """
    words = ["host", "connect", "--home", home, "--shared", home, *options]
    return [python or sys.executable, "-I", "-S", str(PACKAGE), *words]


def write_zip(path: Path) -> None:
    """Write the agent as one file that any Python from 3.8 on can run."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in _contents():
            archive.writestr(zipfile.ZipInfo(name, LONG_AGO), text, zipfile.ZIP_DEFLATED)


def write_compiled_zip(path: Path) -> None:
    """Write the agent with bytecode for this Python beside its sources.

    Python keeps no bytecode of what it imports from a zip file, and compiling takes longer than all
    else that a short job does. Another Python takes the sources. Compiling the whole agent takes a
    second, so that what is compiled already is not compiled again.
    """
    if not PACKAGE.is_dir() and _is_compiled(PACKAGE.parents[1]):
        shutil.copyfile(PACKAGE.parents[1], path)
        return
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in _contents():
            archive.writestr(zipfile.ZipInfo(name, LONG_AGO), text, zipfile.ZIP_DEFLATED)
            if name.endswith(".py"):
                compiled = zipfile.ZipInfo(f"{name}c", LONG_AGO)
                archive.writestr(compiled, _bytecode(name, text))


def compiled_name() -> str:
    """What such a file is called: agents of other versions, and other Pythons, have others."""
    return f"{digest()}.{sys.implementation.cache_tag}.pyz"


def main(arguments: Sequence[str]) -> int:
    """`compile FILE`: how a host that got the agent makes it start quickly; the exit status."""
    if len(arguments) != 1:
        os.write(2, b"usage: compile FILE\n")
        return EXIT_USAGE
    write_compiled_zip(Path(arguments[0]))
    return 0


def _is_compiled(path: Path) -> bool:
    """Whether a file with the agent has bytecode for this Python."""
    with zipfile.ZipFile(path) as archive, suppress(KeyError):
        return archive.read(f"{AGENT}/base/launch.pyc").startswith(MAGIC_NUMBER)
    return False


def _bytecode(name: str, text: bytes) -> bytes:
    """A module's bytecode in the form that is never compared with its source."""
    head = MAGIC_NUMBER + UNCHECKED.to_bytes(4, "little") + source_hash(text)
    return head + marshal.dumps(_named(_code(name, text), name))


def _code(name: str, text: bytes) -> CodeType:
    """What a module compiles to; that of an installed agent is beside it."""
    source = PACKAGE.parents[1] / name
    if name.startswith(f"{AGENT}/") and source.exists():
        code = SourceFileLoader(name, str(source)).get_code(name)
        if code is not None:
            return code
    return compile(text, name, "exec", dont_inherit=True, optimize=0)


def _named(code: CodeType, name: str) -> CodeType:
    """The same code as if it came from a file of that name: tracebacks say so on a host."""
    within = (_named(one, name) if isinstance(one, CodeType) else one for one in code.co_consts)
    return code.replace(co_filename=name, co_consts=tuple(within))


def digest() -> str:
    """The version of the agent as it is here."""
    hashed = hashlib.sha256()
    for name, text in _contents():
        hashed.update(f"{name}\0{len(text)}\0".encode())
        hashed.update(text)
    return hashed.hexdigest()[:DIGITS]


def _contents() -> Iterator[tuple[str, bytes]]:
    """The files of the zip; an agent that runs from one looks into it."""
    if not PACKAGE.is_dir():
        with zipfile.ZipFile(PACKAGE.parents[1]) as archive:
            for entry in archive.infolist():
                if not entry.filename.endswith(".pyc"):
                    yield entry.filename, archive.read(entry)
        return
    yield "__main__.py", ZIP_MAIN.encode()
    yield "trainway/__init__.py", b""
    for source in sorted(PACKAGE.rglob("*.py")):
        if not source.name.endswith(OF_TESTS):
            yield f"{AGENT}/{source.relative_to(PACKAGE).as_posix()}", source.read_bytes()
