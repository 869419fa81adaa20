"""What a job inherits from whoever submits it: the directory, the environment, the programs.

A job that runs on this machine behaves as if it were started by hand here. Elsewhere it gets what
the row of its family says, and nothing where the row says nothing. A server on another machine gets
none of it.
"""

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from trainway.families.family import Carried
from trainway.families.table import family_of
from trainway.jobset.labels import USER
from trainway.json_types import Json
from trainway.sdk.address import Address, Home
from trainway.sdk.ssh_agent import lend

_LONGEST_LABEL: Final = 63
_KEPT: Final = (
    "TRAINWAY_HOME",
    "TRAINWAY_CONTAINER_FLAGS",
    "TRAINWAY_CONTAINER_RUN_FLAGS",
)
_DROPPED: Final = ("_", "SHLVL", "PWD", "OLDPWD", "PS1", "COLUMNS", "LINES", "_TRAINWAY_COMPLETE")
_GANG_NAMES: Final = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "JOB_COMPLETION_INDEX")
_GANG_PREFIXES: Final = ("PET_", "LOCAL_", "GROUP_", "ROLE_", "TORCHELASTIC_", "OMPI_", "PMIX_")
"""What a launcher tells its processes, which must not reach a job submitted by one of them."""

_MPI_AS_ROOT: Final = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
"""Open MPI refuses to start anything for root unless told that this is meant."""


def job_options(address: Address, *, prefer_our_python: bool, backend: str | None = None) -> Json:
    """The part of a submission that says where it comes from."""
    if not address.is_here:
        return {}
    carries, options = family_of(backend).carries, Json()
    if Carried.DIRECTORY in carries:
        options["workdir"] = str(Path.cwd())
    if Carried.KUBECONFIG in carries:
        options["kubeconfig"] = kubeconfig_files(os.environ)
    if Carried.SSH_AGENT in carries:
        lend(Home.of_environment().path, os.environ)
    if Carried.ENVIRONMENT in carries:
        environ = job_environment(os.environ, _bin(), prefer_our_python=prefer_our_python)
        options["environ"] = {**_MPI_AS_ROOT, **environ} if os.geteuid() == 0 else environ
    return options


def user_label(environ: Mapping[str, str]) -> dict[str, str]:
    """Who submits, as a label; a name that no label can have is written without what it cannot."""
    name = environ.get("LOGNAME") or environ.get("USER") or _account()
    fitting = re.sub("[^A-Za-z0-9._-]", "-", name)[:_LONGEST_LABEL].strip("-._")
    return {USER: fitting} if fitting else {}


def _account() -> str:
    import pwd  # noqa: PLC0415 - only where the environment does not say so

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return ""


def kubeconfig_files(environ: Mapping[str, str], home: Path | None = None) -> list[str]:
    """The kubeconfig files that count here, as absolute paths; none where there are none.

    The server is a process of its own, with the environment of whoever started it.
    """
    named = [path for path in environ.get("KUBECONFIG", "").split(os.pathsep) if path]
    if named:
        return [str(Path(path).absolute()) for path in named]
    usual = (home or Path.home()) / ".kube" / "config"
    return [str(usual)] if usual.is_file() else []


def job_environment(
    environ: Mapping[str, str], our_bin: str, *, prefer_our_python: bool
) -> dict[str, str]:
    """The variables a job starts with.

    The programs of our own environment can be found too: first for a function, which runs where its
    caller runs, and last for a script, which runs with what the shell would find.
    """
    is_nested = "TRAINWAY_JOB_ID" in environ
    kept = {
        name: value
        for name, value in environ.items()
        if _is_inherited(name, is_nested=is_nested) and _is_text(name + value)
    }
    path = [part for part in environ.get("PATH", os.defpath).split(os.pathsep) if part]
    if prefer_our_python:
        path = [our_bin, *(part for part in path if part != our_bin)]
    elif our_bin not in path:
        path = [*path, our_bin]
    return {"PYTHONUNBUFFERED": "1", **kept, "PATH": os.pathsep.join(path)}


def has_torch() -> bool:
    """Whether a script finds torch, in the environment on PATH or in our own."""
    import shutil  # noqa: PLC0415 - slow, and not for manifests

    path = job_environment(os.environ, _bin(), prefer_our_python=False)["PATH"]
    return shutil.which("torchrun", path=path) is not None or has_own_torch()


def has_own_torch() -> bool:
    """Whether a function finds torch, which it does if its caller can."""
    from importlib.util import find_spec  # noqa: PLC0415 - as above

    return find_spec("torch") is not None


def _bin() -> str:
    return str(Path(sys.executable).parent)


def _is_inherited(name: str, *, is_nested: bool) -> bool:
    if name.startswith("TRAINWAY_"):
        return name in _KEPT
    if is_nested and (name in _GANG_NAMES or name.startswith(_GANG_PREFIXES)):
        return False
    return name not in _DROPPED


def _is_text(text: str) -> bool:
    """Whether it can be sent as JSON, which other bytes than UTF-8 cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
