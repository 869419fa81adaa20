"""A disk that became full while a fine-tune wrote on it, as a sentence. Pure but for one look.

Torch and safetensors say it in their own ways, some of them without the word.
"""

import errno
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from trainway.errors import UnavailableError

_CODES: Final = (errno.ENOSPC, errno.EDQUOT)
_WORDS: Final = ("no space left on device", "disk quota exceeded")
_WRITERS: Final = ("unexpected pos", "pytorchstreamwriter", "writing file failed")
"""What torch says when a write was cut short, for whatever reason."""
_LITTLE: Final = 1 << 20
"""So few bytes are free on a disk that a write has filled."""


def full_disk(
    error: BaseException, output: Path, free: int | None = None
) -> UnavailableError | None:
    """What to say if that is why the training ended; None: it is not."""
    if not any(_is_told(each) for each in _chain(error)):
        if not any(word in str(each).lower() for each in _chain(error) for word in _WRITERS):
            return None
        if (_free(output) if free is None else free) >= _LITTLE:
            return None
    return UnavailableError(
        f"the disk of {output} is full: a checkpoint or the model could not be written there",
        hint="free some space and start it again with the same output: it goes on from the last"
        " checkpoint that is complete",
    )


def _is_told(error: BaseException) -> bool:
    code = getattr(error, "errno", None)
    return code in _CODES or any(word in str(error).lower() for word in _WORDS)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    for _ in range(10):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def _free(output: Path) -> int:
    """How many bytes are free there, or above it."""
    for place in (output, *output.absolute().parents):
        try:
            return shutil.disk_usage(place).free
        except OSError:
            continue
    return _LITTLE
