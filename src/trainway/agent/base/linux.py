"""System calls that Python has no function for.

On another kernel than Linux, or where the C library lacks a call, `SystemCallError` says so and the
caller does without.
"""

from __future__ import annotations

import ctypes
import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000

MS_RDONLY = 1
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_SLAVE = 1 << 19
MNT_DETACH = 2

_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "ppc64le": 203, "s390x": 217, "riscv64": 41}


class SystemCallError(OSError):
    """A call failed, or does not exist here."""


_libc = ctypes.CDLL(None, use_errno=True)


def _call(name: str, *args: ctypes.c_char_p | ctypes.c_ulong | int | bytes | None) -> None:
    function = getattr(_libc, name, None)
    if function is None:
        raise SystemCallError(38, f"{name} does not exist here")
    if function(*args) < 0:
        number = ctypes.get_errno()
        raise SystemCallError(number, f"{name}: {os.strerror(number)}")


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent dies."""
    _call("prctl", PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL), 0, 0, 0)


def become_subreaper() -> None:
    """Become the parent of descendants that lose theirs, instead of init."""
    _call("prctl", PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(1), 0, 0, 0)


def sync_file_system(fd: int) -> None:
    """Have everything on the file system of an open file reach its disk."""
    _call("syncfs", fd)


def unshare(flags: int) -> None:
    """Leave namespaces that were inherited for fresh ones."""
    _call("unshare", flags)


def mount(
    source: str, target: str, kind: str = "", flags: int = 0, options: Sequence[str] = ()
) -> None:
    """Mount a file system, or with MS_BIND a directory or file that is there already."""
    _call(
        "mount",
        os.fsencode(source),
        os.fsencode(target),
        kind.encode() or None,
        ctypes.c_ulong(flags),
        ",".join(options).encode() or None,
    )


def detach(target: str) -> None:
    """Unmount now what nobody uses any more, and the rest later."""
    _call("umount2", os.fsencode(target), MNT_DETACH)


def pivot_root(new: str, old: str) -> None:
    """Make a mounted directory the root of this mount namespace."""
    number = _PIVOT_ROOT.get(os.uname().machine)
    if number is None:
        raise SystemCallError(38, f"pivot_root is not known on {os.uname().machine}")
    _call("syscall", ctypes.c_ulong(number), os.fsencode(new), os.fsencode(old))
