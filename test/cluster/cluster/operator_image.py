"""The operator's image, built from the Dockerfile of this repository without a registry.

The two base images cannot be had here. Debian's own packages stand in for both of them: a root
that debootstrap makes, with the same Python at the same place. All else is done by the Dockerfile
itself. Both are kept in the user's cache, by the hash of what decides them.
"""

import hashlib
import logging
import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from cluster import builds, containerd
from cluster.access import REPOSITORY
from cluster.node import NodeCluster
from cluster.unavailable import UnavailableError

log = logging.getLogger(__name__)

RELEASE: Final = "bookworm"
PACKAGES: Final = ("ca-certificates", "python3-pip", "python3-venv")
PROGRAMS: Final = {"debootstrap": "debootstrap", "podman": "podman"}
BASE: Final = "localhost/trainway/python-debian"
UNNEEDED: Final = (
    *("dev/*", "usr/share/doc/*", "usr/share/info/*", "usr/share/locale/*", "usr/share/man/*"),
    *("var/cache/*", "var/log/*"),
)
"""Left out of both roots."""
UNNEEDED_TO_RUN: Final = (
    *("usr/bin/perl*", "usr/lib/python3/dist-packages/*", "usr/lib/*/perl*", "usr/sbin/*"),
    *("usr/share/perl*", "usr/share/python-wheels", "usr/share/zoneinfo", "var/lib/apt/*"),
    *("var/lib/dpkg/*", "usr/share/i18n", "usr/lib/*/gconv"),
)
"""Left out of the root that the image is based on, which has no package manager."""
INPUTS: Final = ("Dockerfile", ".dockerignore", "pyproject.toml", "README.md", "LICENSE")
CERTIFICATES: Final = Path("/etc/ssl/certs/ca-certificates.crt")
KEPT: Final = 2
"""How many images stay in the cache: that of this tree and of the one before."""


def operator_image() -> Path:
    """The image as `docker save` writes it, without a name."""
    folder = builds.cache_folder().with_name("images")
    archive = folder / f"operator-{image_key()}.tar"
    if archive.exists():
        archive.touch()
        return archive
    for program, package in PROGRAMS.items():
        if shutil.which(program) is None:
            raise UnavailableError(f"{program}: not found; apt-get install {package}")
    folder.mkdir(parents=True, exist_ok=True)
    with builds.locked(folder / "build.lock"):
        if not archive.exists():
            build_image(*base_roots(folder), archive)
        forget_old(folder)
    return archive


def image_key() -> str:
    """A short hash of all that the Dockerfile copies, and of the root below it."""
    digest = hashlib.sha256(repr((RELEASE, PACKAGES)).encode())
    sources = sorted(REPOSITORY.glob("src/**/*"))
    kept = [path for path in sources if path.is_file() and path.suffix in (".py", ".yaml", ".txt")]
    requirements = REPOSITORY / "requirements" / "operator.txt"
    for path in [*(REPOSITORY / name for name in INPUTS), requirements, *kept]:
        if not path.name.endswith(("_test.py", "conftest.py")):
            digest.update(str(path.relative_to(REPOSITORY)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def base_roots(folder: Path) -> tuple[Path, Path]:
    """Debian with Python as tar files: to build with, and to run with."""
    decided = (RELEASE, PACKAGES, UNNEEDED, UNNEEDED_TO_RUN)
    key = hashlib.sha256(repr(decided).encode()).hexdigest()[:16]
    to_build, to_run = (folder / f"{name}-{key}.tar" for name in ("build", "run"))
    if to_build.exists() and to_run.exists():
        return to_build, to_run
    started = time.monotonic()
    root = folder / f"root-{key}"
    shutil.rmtree(root, ignore_errors=True)
    include = f"--include={','.join(PACKAGES)}"
    run(["debootstrap", "--variant=minbase", include, RELEASE, str(root)])
    for archive, unneeded in ((to_build, UNNEEDED), (to_run, (*UNNEEDED, *UNNEEDED_TO_RUN))):
        left_out = [f"--exclude=./{pattern}" for pattern in unneeded]
        partial = archive.with_suffix(".partial")
        run(["tar", "-C", str(root), *left_out, "-cf", str(partial), "."])
        partial.rename(archive)
    shutil.rmtree(root)
    log.info("made roots of Debian packages in %.0f s", time.monotonic() - started)
    return to_build, to_run


def base_image(root: Path) -> str:
    """The name of the image with these files."""
    name = f"{BASE}:{root.stem}"
    if podman("image", "exists", name, check=False).returncode != 0:
        podman("import", str(root), name)
    return name


def build_image(to_build: Path, to_run: Path, archive: Path) -> None:
    """Run the Dockerfile on these roots."""
    started = time.monotonic()
    name = f"localhost/trainway/operator:{archive.stem}"
    build = (
        *("build", "--isolation=chroot", "--network=host", "--pull=never", "--layers"),
        f"--build-arg=BUILD_IMAGE={base_image(to_build)}",
        f"--build-arg=RUNTIME_IMAGE={base_image(to_run)}",
        *("-v", f"{CERTIFICATES}:{CERTIFICATES}:ro"),  # a mirror may have an authority of its own
    )
    podman(*build, "--target=dependencies", "-t", f"{BASE}:dependencies", str(REPOSITORY))
    known = stored_images()
    podman(*build, "-t", name, str(REPOSITORY))
    partial = archive.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    podman("save", "--format=docker-archive", "-o", str(partial), name)
    for image in [found for found in stored_images() if found not in known]:
        podman("rmi", "--force", image, check=False)
    partial.rename(archive)
    log.info("built the operator's image in %.0f s", time.monotonic() - started)


def stored_images() -> list[str]:
    """All images that podman keeps, the newest first."""
    return podman("images", "--all", "--quiet", "--no-trunc").stdout.split()


def forget_old(folder: Path) -> None:
    """Remove images of trees that were tested before."""
    archives = sorted(folder.glob("operator-*.tar"), key=lambda path: path.stat().st_mtime)
    for archive in archives[:-KEPT]:
        archive.unlink()


def podman(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    return run(["podman", *arguments], check=check)


def run(command: Sequence[str], *, check: bool = True) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if check and done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip())[-2000:]
        raise UnavailableError(f"{' '.join(command)}: {said}")
    return done


def load_image(cluster: NodeCluster, *names: str) -> None:
    """Bring the image into a node under these names."""
    archive = operator_image()
    done = containerd.ctr(
        cluster.socket, "-n", containerd.NAMESPACE, "images", "import", str(archive)
    )
    if done.returncode != 0:
        raise UnavailableError(f"{archive.name}: {done.stderr.strip()[-500:]}")
    imported = f"localhost/trainway/operator:{archive.stem}"
    for name in names:
        tag = ("-n", containerd.NAMESPACE, "images", "tag", imported, name)
        done = containerd.ctr(cluster.socket, *tag)
        if done.returncode != 0:
            raise UnavailableError(f"{name}: {done.stderr.strip()[-500:]}")
