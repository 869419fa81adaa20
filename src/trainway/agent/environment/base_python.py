"""The Python that a job would have without an environment, which its environment begins from."""

from __future__ import annotations

import json
import shutil
import subprocess

from trainway.agent.environment.failure import EnvironmentFailedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainway.agent.environment.requirements import Requirements

PROBE = """
import json, re, site, sys
def release(version):
    return re.sub(r"(\\.0)+$", "", version.lower())
def has(name, version):
    try:
        from importlib import metadata
        found = metadata.version(name)
    except Exception:
        return False
    if "+" not in version:
        found = found.partition("+")[0]  # torch 2.9.0+cu128 is a torch==2.9, as pip and uv see it
    return not version or release(found) == release(version)
plain = json.loads(sys.argv[1])
sites = list(site.getsitepackages()) + ([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])
print(json.dumps({
    "executable": sys.executable,
    "prefix": sys.prefix,
    "version": "%d.%d" % sys.version_info[:2],
    "full": "%d.%d.%d" % sys.version_info[:3],
    "sites": sites,
    "has_all": plain is not None and all(has(*pair) for pair in plain),
}))
"""  # noqa: E501 - it is another program
SECONDS = 60.0


class BasePython:
    """What is known of it."""

    def __init__(self, told: Mapping[str, object]) -> None:
        self.executable = str(told["executable"])
        self.version = str(told["version"])
        self.full = str(told["full"])
        sites = told["sites"]
        self.sites = [str(site) for site in sites] if isinstance(sites, list) else []
        self.has_all = bool(told["has_all"])
        """Whether all packages that are asked for are there already."""
        self.identity = {"prefix": str(told["prefix"]), "version": self.full}


def find(requirements: Requirements, environ: Mapping[str, str]) -> BasePython:
    """Ask the first `python` or `python3` of the job's `PATH` that answers."""
    plain = json.dumps(requirements.plain)
    last = "there is no python on the PATH of the job"
    for name in ("python", "python3"):
        program = shutil.which(name, path=environ.get("PATH"))
        if program is None:
            continue
        try:
            done = subprocess.run(  # noqa: S603 - the job's own Python
                [program, "-c", PROBE, plain],
                env=dict(environ),
                cwd="/",
                capture_output=True,
                timeout=SECONDS,
                check=True,
            )
            return BasePython(json.loads(done.stdout.decode().splitlines()[-1]))
        except (OSError, subprocess.SubprocessError, ValueError, IndexError, KeyError) as error:
            last = f"{program} does not answer: {error}"
    raise EnvironmentFailedError(last)
