"""The export of a job's output into a bucket: a program that can be ended and repeated.

Only files of the output are sent: a link could lead to any file of the machine. What is in the
bucket already with the same content is not sent again, and an object is whole or not there. The
last line that is printed says how it went, as JSON.
"""

import json
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from trainway.data.journal import is_trace
from trainway.data.local_files import LocalFiles
from trainway.data.opening import locate, open_target
from trainway.data.transfer import Outcome
from trainway.data.upload import Sent, send
from trainway.data.uri import OBJECT_STORES, Location, parse
from trainway.errors import (
    ForbiddenError,
    NotFoundError,
    TrainwayError,
    UnreadableError,
    UsageError,
)

_REFUSALS = (ForbiddenError, NotFoundError, UnreadableError, UsageError)


def checked_target(uri: str) -> Location:
    """Where an export goes; only buckets are taken."""
    location = parse(uri)
    if location.scheme not in OBJECT_STORES:
        known = ", ".join(f"{scheme}://" for scheme in OBJECT_STORES)
        raise UsageError(f"{location} is not in a bucket", hint=f"an export goes to {known}")
    return location


def export(folder: Path, uri: str) -> Outcome:
    """Have all files of a folder in a bucket."""
    target = checked_target(uri)
    top = f"{target.key}/" if target.key else ""
    sent = []
    for path in _files(folder):
        entry = LocalFiles().stat(locate(str(path)).key)
        if entry is not None:
            sent.append(Sent(entry, f"{top}{path.relative_to(folder).as_posix()}"))
    if not sent:
        raise NotFoundError(
            "the job left no output", hint="a program writes it into TRAINWAY_OUTPUT_DIR"
        )
    return send(LocalFiles(), open_target(target), sent)


def _files(folder: Path) -> Iterator[Path]:
    for where, folders, names in os.walk(folder, onerror=_raise):
        folders.sort()
        for name in sorted(names):
            path = Path(where, name)
            if stat.S_ISREG(path.lstat().st_mode) and not is_trace(name):
                yield path


def _raise(error: OSError) -> None:
    """A folder that cannot be read must not be missing in silence."""
    if not isinstance(error, FileNotFoundError):  # a job need not leave anything
        raise UnreadableError(f"{error.filename} cannot be read: {error.strerror}") from None


def main(arguments: Sequence[str]) -> int:
    """Send a folder to a URI."""
    folder, uri = arguments
    try:
        outcome = export(Path(folder), uri)
    except TrainwayError as error:
        is_final = isinstance(error, _REFUSALS)
        print(json.dumps({"error": error.sentence, "final": is_final}))  # noqa: T201 - its answer
        return 1
    print(json.dumps({"files": outcome.files, "bytes": outcome.size}))  # noqa: T201 - its answer
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
