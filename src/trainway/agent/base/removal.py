"""Removing what an agent has put somewhere, as far as that is possible."""

from __future__ import annotations

import os
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def remove_trees(paths: Sequence[str]) -> int:
    """Remove files and directories, as far as that is possible; the exit status of a child."""
    import shutil  # noqa: PLC0415 - slow, and seldom needed

    for path in paths:
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):  # it is gone, or somebody else's
                os.unlink(path)
    return 0
