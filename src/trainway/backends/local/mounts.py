"""Whether volumes can appear at their real paths: in a private mount namespace of each pod."""

import subprocess
import sys
from functools import cache
from typing import Final

_TRY: Final = """
import ctypes, os, sys
NEWNS, NEWUSER, PRIVATE, REC, BIND = 0x20000, 0x10000000, 1 << 18, 1 << 14, 1 << 12
libc = ctypes.CDLL(None, use_errno=True)
flags = NEWNS if os.geteuid() == 0 else NEWNS | NEWUSER
ok = libc.unshare(flags) == 0
ok = ok and libc.mount(None, b"/", None, PRIVATE | REC, None) == 0
ok = ok and libc.mount(b"/tmp", b"/tmp", None, BIND, None) == 0
sys.exit(0 if ok else 1)
"""
_LIMIT_S: Final = 10


@cache
def can_mount() -> bool:
    """Whether pods of this machine may have mounts of their own. Tried once, in a process."""
    try:
        tried = subprocess.run(  # noqa: S603 - our own text, by our own interpreter
            [sys.executable, "-I", "-S", "-c", _TRY],
            check=False,
            capture_output=True,
            timeout=_LIMIT_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return tried.returncode == 0
