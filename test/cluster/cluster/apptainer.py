"""Apptainer, which runs images on clusters of Slurm, built from its pinned source.

A copy of the source is configured by its own script and compiled by Go. Its makefile is not used:
that one empties the cache of Go, in which the other programs have minutes of work. What comes out
is a folder like that of an installation; the programs find the rest of it from where they lie.
"""

import hashlib
import json
import logging
import os
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from cluster import builds
from cluster.builds import Module
from cluster.unavailable import UnavailableError

log = logging.getLogger(__name__)

NAME: Final = "apptainer"
SOURCE: Final = "github.com/apptainer/apptainer"
MODULE: Final = Module(NAME, SOURCE, {NAME: f"{SOURCE}/cmd/apptainer"})
COMPILER: Final = "gcc"
HEADER: Final = Path("/usr/include/stdio.h")
CONFIGURE: Final = (
    *("--without-suid", "--without-seccomp", "--without-libsubid", "--without-network"),
    "--reproducible",  # nothing in it says where it was built
)
TAGS: Final = "containers_image_openpgp,sylog,apptainer_engine,fakeroot_engine"
SETTINGS: Final = {
    "nvliblist.conf": "etc/nvliblist.conf",
    "rocmliblist.conf": "etc/rocmliblist.conf",
    "remote.yaml": "etc/remote.yaml",
    "ecl.toml": "internal/pkg/syecl/syecl.toml.example",
}
"""Files of its `etc`, and where they are in the source."""

CAPABILITIES: Final = (
    *("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "NET_BIND_SERVICE", "SETGID"),
    *("SETPCAP", "SETUID", "SYS_ADMIN", "SYS_CHROOT", "SYS_PTRACE"),
)
"""Of root in images. By default it would be all that there are, and this machine's root, perhaps
in a container itself, need not have all of them."""
DEFAULT, CHOSEN = (f"root default capabilities = {word}\n" for word in ("full", "file"))


def apptainer() -> Path:
    """The folder with the program, built if it is missing; the rest lies beside it."""
    folder = builds.cache_folder() / key()
    if not folder.exists():
        require()
        folder.parent.mkdir(parents=True, exist_ok=True)
        with builds.locked(folder.with_name(f"{folder.name}.lock")):
            if not folder.exists():  # another run may have built it meanwhile
                install(folder)
    return folder / "bin"


def key() -> str:
    """A short hash of what decides the programs."""
    decided = (MODULE.key(), CONFIGURE, TAGS, SETTINGS, CAPABILITIES)
    return hashlib.sha256(repr(decided).encode()).hexdigest()[:16]


def require() -> None:
    """See to it that it can be built."""
    builds.require_go(f"{NAME} must be built with it")
    if shutil.which(COMPILER) is None or not HEADER.exists():
        raise UnavailableError(f"{COMPILER}: not found; apt-get install gcc libc6-dev")


def install(folder: Path) -> None:
    """Build it, and put all of it in place at once."""
    started = time.monotonic()
    version = MODULE.version().removeprefix("v")
    log.info("building %s of %s %s", NAME, SOURCE, MODULE.version())
    partial, source = (folder.with_name(f"{folder.name}.{name}") for name in ("partial", "source"))
    for left in (partial, source):
        shutil.rmtree(left, ignore_errors=True)
    copy_source(builds.source_folder(MODULE, SOURCE), source)
    (source / "VERSION").write_text(version)
    run(["sh", "mconfig", "-V", version, *CONFIGURE], source)
    settings = source / "internal/pkg/buildcfg"
    run(["go", "run", "confgen/gen.go", str(source / "builddir/config.h")], settings)
    programs = {"apptainer": partial / "bin", "starter": partial / "libexec/apptainer/bin"}
    run(compile_command(partial, sorted(programs)), source)
    for name, place in programs.items():
        place.mkdir(parents=True)
        (partial / name).rename(place / name)
    write_settings(source, partial)
    (partial / "var/apptainer/mnt/session").mkdir(parents=True)
    shutil.rmtree(source)
    partial.rename(folder)
    log.info("built %s in %.0f s", NAME, time.monotonic() - started)


def copy_source(source: Path, target: Path) -> None:
    """A copy that can be written to; Go keeps the files of modules read-only."""
    shutil.copytree(source, target, copy_function=shutil.copyfile)
    for folder, _, names in os.walk(target):
        Path(folder).chmod(0o755)
        for name in names:
            Path(folder, name).chmod(0o755)  # its scripts call each other


def compile_command(output: Path, names: Sequence[str]) -> list[str]:
    """The `go build` of these programs into a folder."""
    flags = [*builds.COMPILER_FLAGS, "-mod=readonly", "-tags", TAGS, "-ldflags", "-s -w"]
    return ["go", "build", *flags, "-o", f"{output}/", *(f"./cmd/{name}" for name in names)]


def write_settings(source: Path, installation: Path) -> None:
    """The folder `etc`, as `make install` writes it."""
    settings = installation / "etc/apptainer"
    settings.mkdir(parents=True)
    for name, path in SETTINGS.items():
        shutil.copyfile(source / path, settings / name)
    allowed = {"users": {"root": [f"CAP_{name}" for name in CAPABILITIES]}}
    (settings / "capability.json").write_text(json.dumps(allowed))
    file = settings / "apptainer.conf"
    run([str(installation / "bin" / NAME), "confgen", str(file)], source)
    file.write_text(file.read_text().replace(DEFAULT, CHOSEN))


def run(command: Sequence[str], folder: Path) -> None:
    """Run a step of the build in a folder."""
    environ = {**os.environ, **variables(folder), **builds.COMPILER_GOGC}
    done = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()[-2000:]
        raise UnavailableError(f"{NAME}: {' '.join(command)}: {said}")


def variables(folder: Path) -> Mapping[str, str]:
    """What a step has to know; no repository is found that the cache may lie in."""
    go = {"CGO_ENABLED": "1", "GOWORK": "off", "GO_BUILD_TAGS": TAGS}
    return {**go, "GIT_CEILING_DIRECTORIES": str(folder.parent)}
