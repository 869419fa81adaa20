"""The output of a job that begins anew elsewhere, because its place could not hand it over.

What has come to the server is set aside while the place removes the rest of the job, and is there
when it begins. A server that is killed in between finds it set aside, and goes on.
"""

from pathlib import Path


def set_aside(output: Path) -> None:
    """Bring the output where the removal of its job does not find it; none need be there."""
    aside = _aside(output)
    if aside.exists() or not output.is_dir() or not any(output.iterdir()):
        return
    output.rename(aside)


def put_back(output: Path) -> None:
    """Bring it back, if it was set aside."""
    aside = _aside(output)
    if not aside.exists() or (output.is_dir() and any(output.iterdir())):
        return
    output.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    aside.rename(output)


def _aside(output: Path) -> Path:
    """Beside the directory of the job."""
    return output.parent.with_name(f"{output.parent.name}.output")
