"""The programs of the cluster, built from the pinned Go modules beside this package.

Building takes minutes, so each program is built once per machine and version: the folder in the
user's cache carries the hash of the module files. A program is renamed into place when it is whole,
so that an interrupted build goes on where it stopped, and a file lock for each keeps two runs from
building the same. What is asked for together is built by one `go build`, which keeps all processors
busy, and always with the same flags, so that no package is compiled twice.
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
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from cluster.unavailable import UnavailableError

log = logging.getLogger(__name__)

MODULES: Final = Path(__file__).resolve().parents[1] / "modules"
VERSION_PACKAGE: Final = "k8s.io/component-base/version"
COMPILER_FLAGS: Final = ("-pgo=off", "-gcflags=all=-dwarf=false -l")
"""The same for all, so that they share what is compiled: a profile would be of one program alone,
and `-trimpath` would write the version that each module requires. Without inlining and what a
debugger needs, the compiler takes 40 % less of the processor."""
COMPILER_GOGC: Final = {"GOGC": "400"}
"""How much garbage the compiler keeps: a third less of the processor, for 200 MB more."""


@dataclass(frozen=True)
class Module:
    """A Go module of ours: the folder with its go.mod, and the main packages it pins."""

    name: str
    versioned_by: str  # the required module whose version the programs report
    packages: Mapping[str, str]  # program -> main package

    @property
    def folder(self) -> Path:
        """Where go.mod and go.sum are."""
        return MODULES / self.name

    def key(self) -> str:
        """A short hash of what decides the programs."""
        digest = hashlib.sha256(repr(COMPILER_FLAGS).encode())
        sources = sorted(self.folder.glob("**/*.go"))
        for path in (self.folder / "go.mod", self.folder / "go.sum", *sources):
            digest.update(path.read_bytes())
        return digest.hexdigest()[:16]

    def version(self) -> str:
        """The pinned version of the module that names the programs' version."""
        for line in (self.folder / "go.mod").read_text().splitlines():
            words = line.removeprefix("require").split()
            if words[:1] == [self.versioned_by] and "=>" not in words:
                return words[1]
        raise ValueError(f"{self.folder}/go.mod does not require {self.versioned_by}")


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
        "coredns": "./coredns",
        "kueue": "sigs.k8s.io/kueue/cmd/kueue",
        "scheduler-plugins": "sigs.k8s.io/scheduler-plugins/cmd/scheduler",
        "scheduler-plugins-controller": "sigs.k8s.io/scheduler-plugins/cmd/controller",
        "helm": "helm.sh/helm/v3/cmd/helm",
        "lws": "sigs.k8s.io/lws/cmd",
    },
)
KWOK: Final = Module("kwok", "sigs.k8s.io/kwok", {"kwok": "sigs.k8s.io/kwok/cmd/kwok"})
ALL: Final = (KUBERNETES, KWOK)


def cache_folder() -> Path:
    """Where builds are kept between runs."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "trainway" / "cluster"


def build(module: Module, programs: Sequence[str]) -> Path:
    """The folder with these programs; what is missing there is built."""
    folder = cache_folder() / module.key() / "bin"
    missing = absent(programs, folder)
    if not missing:
        return folder
    require_go(f"{', '.join(missing)} must be built with it")
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as locks:
        for name in sorted(missing):  # in one order, so that no two runs wait for each other
            locks.enter_context(locked(folder.with_name(f"{name}.lock")))
        missing = absent(missing, folder)  # another run may have built some meanwhile
        if missing:
            compile_programs(module, missing, folder)
    return folder


def absent(programs: Sequence[str], folder: Path) -> list[str]:
    return [name for name in programs if not (folder / name).exists()]


def require_go(purpose: str) -> None:
    if shutil.which("go") is None:
        raise UnavailableError(f"go: not found, and {purpose}")


def compile_programs(module: Module, names: Sequence[str], folder: Path) -> None:
    started = time.monotonic()
    told = ", ".join(names)
    log.info("building %s of %s %s", told, module.versioned_by, module.version())
    partial = folder.with_name(f"partial-{names[0]}")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    command = compile_command(module, names, partial)
    done = subprocess.run(
        command,
        cwd=module.folder,
        env={**os.environ, "CGO_ENABLED": "0", "GOWORK": "off", **COMPILER_GOGC},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise UnavailableError(f"{told}: {' '.join(command)}: {done.stderr.strip()[-2000:]}")
    for name in names:
        (partial / PurePosixPath(module.packages[name]).name).rename(folder / name)
    partial.rmdir()
    log.info("built %s in %.0f s", told, time.monotonic() - started)


def compile_command(module: Module, names: Sequence[str], output: Path) -> list[str]:
    """The `go build` of these programs into a folder, each named as its package."""
    version = module.version()
    major, minor = version.removeprefix("v").split(".")[:2]
    values = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
    stamps = [f"-X {VERSION_PACKAGE}.{key}={value}" for key, value in values.items()]
    linker = " ".join(["-s", "-w", *stamps])
    packages = [module.packages[name] for name in names]
    return ["go", "build", *COMPILER_FLAGS, "-ldflags", linker, "-o", f"{output}/", *packages]


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
