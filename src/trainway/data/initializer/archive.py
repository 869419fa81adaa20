"""The initializer as one file for hosts that have nothing of ours; equal sources, equal bytes."""

import io
import zipfile
from functools import cache
from pathlib import Path
from typing import Final

NAME: Final = "trainway-initializer.zip"
_PACKAGE: Final = Path(__file__).parents[2]
_MAIN: Final = """import sys

from trainway.data.initializer.starter import main

sys.exit(main(sys.argv[1:]))
"""
_OF_TESTS: Final = ("_test.py", "testing.py")
_LONG_AGO: Final = (1980, 1, 1, 0, 0, 0)


@cache
def archive() -> bytes:
    """A zip file that `python3 FILE dataset` runs."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        for name, text in _contents().items():
            file.writestr(zipfile.ZipInfo(name, _LONG_AGO), text, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def _contents() -> dict[str, bytes]:
    sources = [_PACKAGE / "errors.py", *sorted((_PACKAGE / "data").rglob("*.py"))]
    found = {
        f"trainway/{source.relative_to(_PACKAGE).as_posix()}": source.read_bytes()
        for source in sources
        if not source.name.endswith(_OF_TESTS)
    }
    return {"__main__.py": _MAIN.encode(), "trainway/__init__.py": b"", **found}
