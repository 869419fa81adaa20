"""What makes an environment: uv where there is one, else Python's own venv and pip."""

from __future__ import annotations

import os
import posixpath
import shutil
import subprocess
import sys

from trainway.agent.environment.failure import EnvironmentFailedError, complaint
from trainway.agent.environment.index_settings import for_uv
from trainway.agent.environment.uv_bringing import UnreachableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trainway.agent.environment.base_python import BasePython
    from trainway.agent.environment.uv_bringing import NotBroughtError

LAST_LINES = 60
UV_VARIABLE = "TRAINWAY_UV"


class Installer:
    """Runs one or the other, and passes on what it says to the log of the job."""

    def __init__(
        self,
        python: BasePython,
        environ: Mapping[str, str],
        lock: int,
        uv: str | None,
        absence: NotBroughtError | None = None,
    ) -> None:
        self._python = python
        self._absence = absence
        """Why there is no uv; None: it is not to be used."""
        self._lock = lock
        """What its children hold too: nobody else works in the folder while one of them does."""
        self.uv = uv
        self._environ = for_uv(environ) if self.uv else dict(environ)
        for name in ("PYTHONPATH", "VIRTUAL_ENV", "UV_PROJECT_ENVIRONMENT", "PIP_TARGET"):
            self._environ.pop(name, None)

    @property
    def name(self) -> str:
        """The tool, for people."""
        return "uv" if self.uv else "pip"

    def create(self, path: str) -> None:
        """Make an empty environment."""
        python = self._python.executable
        if self.uv:
            argv = [self.uv, "venv", "--quiet", "--no-project", "--python", python, path]
            self._run(argv, "the environment could not be made")
        else:
            self._run([python, "-m", "venv", path], self._without_uv())

    def install(self, path: str, requirements: str) -> None:
        """Install what a requirements file lists."""
        python = f"{path}/bin/python"
        pip = [python, "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
        if self.uv:
            pip = [self.uv, "pip", "install", "--no-progress", "--python", python]
        more = ""
        if isinstance(self._absence, UnreachableError):  # pip says that there is no such package
            more = f"; the index of packages cannot be reached ({self._absence})"
        self._run([*pip, "-r", requirements], "the packages could not be installed", more)

    def _without_uv(self) -> str:
        told = "uv is not to be used"
        if self._absence is not None:
            told = f"there is no uv on this host, it cannot be brought ({self._absence})"
        return (
            f"{told}, and python -m venv failed; install uv, or Python's venv (on Debian and Ubuntu"
            " it is the package python3-venv)"
        )

    def _run(self, argv: Sequence[str], what: str, more: str = "") -> None:
        lines: list[str] = []
        process = subprocess.Popen(  # noqa: S603 - what the job asks for
            argv,
            env=self._environ,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(self._lock,),
        )
        with process:
            for data in process.stdout or ():
                text = data.decode("utf-8", "replace").rstrip()
                lines = [*lines[-LAST_LINES:], text]
                print(text, flush=True)  # noqa: T201 - the job's log
        if process.returncode:
            raise EnvironmentFailedError(f"{what}: {complaint(lines)}{more}")


def find_uv(python: BasePython, environ: Mapping[str, str]) -> str | None:
    """The uv of the job, of the user, or beside its Python or ours."""
    if environ.get(UV_VARIABLE) is not None:
        return environ[UV_VARIABLE] or None
    home = environ.get("HOME") or os.path.expanduser("~")
    folders = [
        environ.get("PATH") or os.defpath,
        f"{home}/.local/bin",
        f"{home}/.cargo/bin",
        posixpath.dirname(python.executable),
        posixpath.dirname(sys.executable),
    ]
    return shutil.which("uv", path=os.pathsep.join(folders))
