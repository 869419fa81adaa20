"""The CRDs of upstream projects: in place of ours, or only by name."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from cluster.access import Access
from cluster.control_plane import ControlPlane
from cluster.fixtures import running, unavailable

from trainway.json_types import Json
from trainway.kube.resources import Resource

TRAINER: Final = "github.com/kubeflow/trainer/v2@v2.3.0"
CRDS: Final = {
    TRAINER: "manifests/base/crds/trainer*.yaml",
    "github.com/kubeflow/mpi-operator@v0.8.2": "manifests/base/kubeflow.org_mpijobs.yaml",
}
"""Where upstream has its CRDs: a pattern within each module."""


@pytest.fixture(scope="package")
def upstream_cluster() -> Iterator[Access]:
    """A cluster with the CRDs of Kubeflow Trainer and MPI Operator in place of ours."""
    folders = {module_folder(module): files for module, files in CRDS.items()}
    for cluster in running(ControlPlane):
        cluster.install_jobset_crds()
        for folder, files in folders.items():
            for file in sorted(folder.glob(files)):
                cluster.install_crds(file)
        yield cluster


def module_folder(module: str) -> Path:
    """The source of a Go module of exactly this version."""
    if shutil.which("go") is None:
        unavailable(f"{module}: Go is not installed")
    command = ["go", "mod", "download", "-json", module]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        unavailable(f"{module}: {done.stdout}{done.stderr}")
    return Path(json.loads(done.stdout)["Dir"])


def permissive_crd(resource: Resource) -> Json:
    """A kind of that name which takes anything, where the project's own is not at hand."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": resource.version, "served": True, "storage": True}
    schema = {"subresources": {"status": {}}, "schema": {"openAPIV3Schema": anything}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{resource.plural}.{resource.group}",
            "annotations": {"api-approved.kubernetes.io": "unapproved, for tests"},
        },
        "spec": {
            "group": resource.group,
            "names": {"kind": resource.kind, "plural": resource.plural},
            "scope": "Namespaced",
            "versions": [{**version, **schema}],
        },
    }
