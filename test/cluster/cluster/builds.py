"""The programs of the cluster, built from the pinned Go modules beside this package.

Building takes minutes, so each program is built once per machine and version: the folder in the
user's cache carries the hash of the module files. A program is renamed into place when it is whole,
so that an interrupted build goes on where it stopped, and a file lock keeps two runs from building
the same.
"""

import fcntl
import hashlib
import json
import logging
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cluster.unavailable import UnavailableError

log = logging.getLogger(__name__)

MODULES: Final = Path(__file__).resolve().parents[1] / "modules"
VERSION_PACKAGE: Final = "k8s.io/component-base/version"


@dataclass(frozen=True)
class Module:
    """A Go module of ours: the folder with its go.mod, and the main packages it pins."""

    name: str
    versioned_by: str  # the required module whose version the programs report
    packages: Mapping[str, str]  # program -> main package
    follows_kubernetes: bool = False  # v0.N is made for Kubernetes 1.N, which programs must report

    @property
    def folder(self) -> Path:
        """Where go.mod and go.sum are."""
        return MODULES / self.name

    def key(self) -> str:
        """A short hash of what decides the programs."""
        digest = hashlib.sha256()
        for name in ("go.mod", "go.sum"):
            digest.update((self.folder / name).read_bytes())
        return digest.hexdigest()[:16]

    def version(self) -> str:
        """The pinned version of the module that names the programs' version."""
        for line in (self.folder / "go.mod").read_text().splitlines():
            words = line.removeprefix("require").split()
            if words[:1] == [self.versioned_by] and "=>" not in words:
                return words[1]
        raise ValueError(f"{self.folder}/go.mod does not require {self.versioned_by}")

    def reported_version(self) -> str:
        """What the programs say they are."""
        version = self.version()
        return version.replace("v0.", "v1.", 1) if self.follows_kubernetes else version


KUBERNETES: Final = Module(
    "kubernetes",
    "k8s.io/kubernetes",
    {
        "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
        "kubectl": "k8s.io/kubernetes/cmd/kubectl",
        "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
        "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
        "kubelet": "k8s.io/kubernetes/cmd/kubelet",
        "jobset": "sigs.k8s.io/jobset",
        "coredns": "github.com/coredns/coredns",
        "kueue": "sigs.k8s.io/kueue/cmd/kueue",
    },
)
KWOK: Final = Module("kwok", "sigs.k8s.io/kwok", {"kwok": "sigs.k8s.io/kwok/cmd/kwok"})
SCHEDULER_PLUGINS: Final = Module(
    "scheduler-plugins",
    "sigs.k8s.io/scheduler-plugins",
    {
        "scheduler-plugins": "sigs.k8s.io/scheduler-plugins/cmd/scheduler",
        "scheduler-plugins-controller": "sigs.k8s.io/scheduler-plugins/cmd/controller",
    },
    follows_kubernetes=True,
)
HELM: Final = Module("helm", "helm.sh/helm/v3", {"helm": "helm.sh/helm/v3/cmd/helm"})
ALL: Final = (KUBERNETES, KWOK, SCHEDULER_PLUGINS, HELM)


def cache_folder() -> Path:
    """Where builds are kept between runs."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "trainway" / "cluster"


def build(module: Module, programs: Sequence[str]) -> Path:
    """The folder with these programs; what is missing there is built."""
    folder = cache_folder() / module.key() / "bin"
    missing = [name for name in programs if not (folder / name).exists()]
    if not missing:
        return folder
    require_go(f"{', '.join(missing)} must be built with it")
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder.with_name("build.lock")):
        for name in missing:
            if not (folder / name).exists():  # another run may have built it meanwhile
                compile_program(module, name, folder / name)
    return folder


def require_go(purpose: str) -> None:
    if shutil.which("go") is None:
        raise UnavailableError(f"go: not found, and {purpose}")


def compile_program(module: Module, name: str, target: Path) -> None:
    started = time.monotonic()
    log.info("building %s %s", name, module.version())
    partial = target.with_name(f"{name}.partial")
    command = compile_command(module, name, partial)
    done = subprocess.run(
        command,
        cwd=module.folder,
        env={**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise UnavailableError(f"{name}: {' '.join(command)}: {done.stderr.strip()[-2000:]}")
    partial.rename(target)
    log.info("built %s in %.0f s", name, time.monotonic() - started)


def compile_command(module: Module, name: str, output: Path) -> list[str]:
    """The `go build` of one program."""
    version = module.reported_version()
    major, minor = version.removeprefix("v").split(".")[:2]
    values = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
    stamps = [f"-X {VERSION_PACKAGE}.{key}={value}" for key, value in values.items()]
    flags = " ".join(["-s", "-w", *stamps])
    package = module.packages[name]
    return ["go", "build", "-trimpath", "-ldflags", flags, "-o", str(output), package]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def source_folder(module: Module, dependency: str) -> Path:
    """The source of a pinned dependency: CRDs and webhook manifests come from there."""
    require_go(f"{dependency} comes as a Go module")
    done = subprocess.run(
        ["go", "mod", "download", "-json", f"{dependency}@{required_version(module, dependency)}"],
        cwd=module.folder,
        env={**os.environ, "GOWORK": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise UnavailableError(f"{dependency}: {done.stderr.strip()[-500:] or done.stdout[-500:]}")
    return Path(json.loads(done.stdout)["Dir"])


def required_version(module: Module, dependency: str) -> str:
    return Module(module.name, dependency, {}).version()
