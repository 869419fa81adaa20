"""An environment on top of the Python that it was made from.

What that Python has is found after the packages of the environment, as in an image on which
packages are installed. Its programs, such as `torchrun`, get a short script here: with their own
they would start without the environment.
"""

from __future__ import annotations

import subprocess

from trainway.agent.environment.failure import EnvironmentFailedError, complaint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainway.agent.environment.base_python import BasePython

SCRIPTS = """
import os, sys
from importlib import metadata
folder = sys.argv[1]
found = metadata.entry_points()
select = getattr(found, "select", None)
scripts = select(group="console_scripts") if select else found.get("console_scripts", ())
for script in scripts:
    module, _, attribute = script.value.partition(":")
    attribute = attribute.split("[")[0].strip()
    path = os.path.join(folder, script.name)
    skipped = script.name.startswith(("python", "pip", "easy_install")) or "/" in script.name
    if skipped or not attribute or os.path.lexists(path):
        continue
    first = attribute.split(".")[0]
    text = (
        "#!/bin/sh\\n''''exec " + repr(sys.executable) + ' "$0" "$@" # \\'\\'\\'\\n'
        "import sys\\nfrom " + module + " import " + first + "\\n"
        "sys.exit(" + attribute + "())\\n"
    )
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, 0o755)
"""


def lay_over(path: str, python: BasePython) -> None:
    """Let an environment see its Python's packages."""
    folder = f"{path}/lib/python{python.version}/site-packages"
    with open(f"{folder}/_trainway_base.pth", "w", encoding="utf-8") as file:
        file.writelines(f"import site; site.addsitedir({site!r})\n" for site in python.sites)


def add_programs(path: str, environ: Mapping[str, str]) -> None:
    """Give an environment the programs of all packages that it sees."""
    env = {name: value for name, value in environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(  # noqa: S603 - the environment's own Python
        [f"{path}/bin/python", "-c", SCRIPTS, f"{path}/bin"],
        env=env,
        cwd="/",
        stderr=subprocess.PIPE,
        check=False,
    )
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").splitlines()
        raise EnvironmentFailedError(f"its programs could not be made: {complaint(said[-1:])}")
