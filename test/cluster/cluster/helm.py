"""The real helm, as a person would run it: on the chart of this repository, or on a cluster."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import yaml

from cluster import builds
from cluster.access import REPOSITORY, Access
from trainway.json_types import Json

CHART: Final = REPOSITORY / "charts" / "trainway"
NAMESPACE: Final = "kubeflow-system"


class HelmError(Exception):
    """helm failed; the message is its command and what it said."""


class Helm:
    """helm with settings of its own; with a cluster it acts there as administrator."""

    def __init__(self, folder: Path, cluster: Access | None = None) -> None:
        self.program = builds.build(builds.KUBERNETES, ["helm"]) / "helm"
        self.folder = folder
        self.cluster = cluster

    def __call__(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run it; with check, a failure is an error with what it said."""
        command = [str(self.program), *arguments]
        places = {name: str(self.folder / name) for name in ("cache", "config", "data")}
        environment = {f"HELM_{name.upper()}_HOME": path for name, path in places.items()}
        if self.cluster is not None:
            environment["KUBECONFIG"] = str(self.cluster.kubeconfig)
        done = subprocess.run(
            command,
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder), **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        if check and done.returncode != 0:
            raise HelmError(f"helm {' '.join(arguments)}: {done.stderr.strip()}")
        return done

    def template(self, *arguments: str, chart: Path = CHART) -> list[Json]:
        """What the chart renders to."""
        place = ("-n", NAMESPACE, f"--kube-version={builds.KUBERNETES.version()}")
        text = self("template", "trainway", str(chart), *place, *arguments).stdout
        return [obj for obj in yaml.load_all(text, yaml.CSafeLoader) if obj]

    def package(self, version: str) -> Path:
        """The chart as an archive of another version."""
        flags = ("--version", version, "--app-version", version, "-d", str(self.folder))
        self("package", str(CHART), *flags)
        return self.folder / f"trainway-{version}.tgz"


def settings(values: Sequence[str]) -> list[str]:
    """The flags for values such as `replicaCount=1`."""
    return [word for value in values for word in ("--set", value)]
