"""A disk that is full soon."""

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from environments import last_line, unavailable


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """Have four megabytes at that path, for a while."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "trainway-test", str(folder)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        unavailable(f"a small disk: {last_line(done.stderr)}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextlib.contextmanager
def filled(folder: Path) -> Iterator[Callable[[], None]]:
    """Leave no room on a disk; what is given takes what has become free since."""
    path = folder / "ballast"
    handle = os.open(path, os.O_WRONLY | os.O_CREAT)

    def fill() -> None:
        with contextlib.suppress(OSError):
            while os.write(handle, bytes(4096)):
                pass

    try:
        fill()
        yield fill
    finally:
        os.close(handle)
        path.unlink()
