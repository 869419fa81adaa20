"""The images of operator and initializers, built from our Dockerfile without a registry.

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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Recipe:
    """Images that are made and kept together."""

    name: str
    targets: tuple[str, ...]
    """Stages of the Dockerfile; the name of each begins that of its image."""
    base: str
    """The stage below them that changes seldom, and is kept."""
    requirements: tuple[str, ...]
    sources: tuple[str, ...]
    """What of `src` decides them: all that their programs import."""

    def image(self, target: str, archive: Path) -> str:
        """The name that an image has in its archive."""
        return f"localhost/trainway/{target}:{archive.stem}"


OPERATOR: Final = Recipe("operator", ("operator",), "dependencies", ("operator.txt",), ("**/*",))
INITIALIZERS: Final = Recipe(
    "initializers",
    ("dataset-initializer", "model-initializer"),
    "initializer-dependencies",
    ("operator.txt", "initializer.txt"),
    ("trainway/*", "trainway/data/**/*"),
)


def operator_image() -> Path:
    """The operator's image as `docker save` writes it."""
    return built(OPERATOR)


def initializer_images() -> Path:
    """The images of the initializers, in one such file."""
    return built(INITIALIZERS)


def built(recipe: Recipe) -> Path:
    """The images of a recipe as `docker save` writes them."""
    folder = builds.cache_folder().with_name("images")
    archive = folder / f"{recipe.name}-{image_key(recipe)}.tar"
    if archive.exists():
        archive.touch()
        return archive
    for program, package in PROGRAMS.items():
        if shutil.which(program) is None:
            raise UnavailableError(f"{program}: not found; apt-get install {package}")
    folder.mkdir(parents=True, exist_ok=True)
    with builds.locked(folder / "build.lock"):
        if not archive.exists():
            build_images(recipe, *base_roots(folder), archive)
        forget_old(folder, recipe)
    return archive


def image_key(recipe: Recipe = OPERATOR) -> str:
    """A short hash of all that the Dockerfile copies, and of the root below it."""
    digest = hashlib.sha256(repr((RELEASE, PACKAGES)).encode())
    sources = sorted({path for name in recipe.sources for path in (REPOSITORY / "src").glob(name)})
    kept = [path for path in sources if path.is_file() and path.suffix in (".py", ".yaml", ".txt")]
    requirements = [REPOSITORY / "requirements" / name for name in recipe.requirements]
    for path in [*(REPOSITORY / name for name in INPUTS), *requirements, *kept]:
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


def build_images(recipe: Recipe, to_build: Path, to_run: Path, archive: Path) -> None:
    """Run the Dockerfile on these roots."""
    started = time.monotonic()
    names = {target: recipe.image(target, archive) for target in recipe.targets}
    build = (
        *("build", "--isolation=chroot", "--network=host", "--pull=never", "--layers"),
        f"--build-arg=BUILD_IMAGE={base_image(to_build)}",
        f"--build-arg=RUNTIME_IMAGE={base_image(to_run)}",
        *("-v", f"{CERTIFICATES}:{CERTIFICATES}:ro"),  # a mirror may have an authority of its own
    )
    podman(*build, f"--target={recipe.base}", "-t", f"{BASE}:{recipe.base}", str(REPOSITORY))
    known = stored_images()
    for target, name in names.items():
        podman(*build, f"--target={target}", "-t", name, str(REPOSITORY))
    partial = archive.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    saved = ("save", "--multi-image-archive", "--format=docker-archive")
    podman(*saved, "-o", str(partial), *names.values())
    for image in [found for found in stored_images() if found not in known]:
        podman("rmi", "--force", image, check=False)
    partial.rename(archive)
    log.info("built %s in %.0f s", ", ".join(recipe.targets), time.monotonic() - started)


def stored_images() -> list[str]:
    """All images that podman keeps, the newest first."""
    return podman("images", "--all", "--quiet", "--no-trunc").stdout.split()


def forget_old(folder: Path, recipe: Recipe) -> None:
    """Remove images of trees that were tested before."""
    archives = sorted(folder.glob(f"{recipe.name}-*.tar"), key=lambda path: path.stat().st_mtime)
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
    """Bring the operator's image into a node under these names."""
    load(cluster, OPERATOR, dict.fromkeys(names, OPERATOR.targets[0]))


def load(cluster: NodeCluster, recipe: Recipe, names: Mapping[str, str]) -> None:
    """Bring images into a node; `names` has what each is called there, and its target."""
    archive = built(recipe)
    done = containerd.ctr(
        cluster.socket, "-n", containerd.NAMESPACE, "images", "import", str(archive)
    )
    if done.returncode != 0:
        raise UnavailableError(f"{archive.name}: {done.stderr.strip()[-500:]}")
    for name, target in names.items():
        tag = ("-n", containerd.NAMESPACE, "images", "tag", recipe.image(target, archive), name)
        done = containerd.ctr(cluster.socket, *tag)
        if done.returncode != 0:
            raise UnavailableError(f"{name}: {done.stderr.strip()[-500:]}")
