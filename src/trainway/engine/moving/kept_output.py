"""The output and logs of a job that begins anew elsewhere, because it could not be handed over.

What has come to the server is set aside while the place removes the rest of the job, and is there
when it begins. A server that is killed in between finds it set aside, and goes on.
"""

from pathlib import Path


def set_aside(folder: Path) -> None:
    """Bring a folder of a job where the removal of the job does not find it; it may be missing."""
    aside = _aside(folder)
    if aside.exists() or not folder.is_dir() or not any(folder.iterdir()):
        return
    folder.rename(aside)


def put_back(folder: Path) -> None:
    """Bring it back, if it was set aside."""
    aside = _aside(folder)
    if not aside.exists() or (folder.is_dir() and any(folder.iterdir())):
        return
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.is_dir():
        folder.rmdir()
    aside.rename(folder)


def _aside(folder: Path) -> Path:
    """Beside the directory of the job."""
    return folder.parent.with_name(f"{folder.parent.name}.{folder.name}")
