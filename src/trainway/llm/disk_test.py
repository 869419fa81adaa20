import errno
from dataclasses import dataclass
from pathlib import Path

import pytest

from trainway.llm.disk import full_disk

FULL = OSError(errno.ENOSPC, "No space left on device", "/out/model")


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@dataclass(frozen=True)
class Case:
    id: str
    error: Exception
    free: int
    is_full: bool


@pytest.mark.parametrize(
    "case",
    [
        Case("the system", FULL, 0, is_full=True),
        Case("a quota", OSError(errno.EDQUOT, "Disk quota exceeded"), 10**9, is_full=True),
        Case("safetensors", RuntimeError("Io(Os { message: 'No space left on device' })"), 0,
             is_full=True),
        Case("as a cause", caused(ValueError("cannot save"), FULL), 10**9, is_full=True),
        Case("torch", RuntimeError("[enforce fail at inline_container.cc:1] unexpected pos 64"), 0,
             is_full=True),
        Case("torch, for another reason", RuntimeError("unexpected pos 64"), 10**9, is_full=False),
        Case("something else", ValueError("no such column"), 0, is_full=False),
    ],
    ids=lambda case: case.id,
)  # fmt: skip
def test_when_a_disk_is_full(case: Case) -> None:
    found = full_disk(case.error, Path("/out"), case.free)
    assert (found is not None) is case.is_full
    if found is not None:
        assert found.message.startswith("the disk of /out is full")
