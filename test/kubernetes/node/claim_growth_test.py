"""A volume that is applied again with a larger size: what the API server lets become of its claim.

Here is no driver that makes disks larger; that a claim asks for more is all that can be seen.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from cluster.access import Access
from cluster.identities import CONTEXT
from cluster.processes import wait_until
from installation import Installation

from trainway.json_types import Json

PATIENCE_S = 120.0
VOLUME = """\
name: {name}
type: k8s-pvc
infra: k8s/{context}/{namespace}
config: {{storage_class_name: {namespace}}}
"""


@dataclass(frozen=True)
class Case:
    id: str
    grows: bool
    code: int
    size: str


@pytest.mark.parametrize(
    "case",
    [
        Case("a class that allows it", grows=True, code=0, size="2Gi"),
        Case("a class that does not", grows=False, code=1, size="1Gi"),
    ],
    ids=lambda case: case.id,
)
def test_a_claim_grows_where_its_storage_class_allows_that(
    case: Case, home: Installation, node_cluster: Access, namespace: str, tmp_path: Path
) -> None:
    name = f"grows-{namespace}"
    file = tmp_path / "volume.yaml"
    file.write_text(VOLUME.format(name=name, namespace=namespace, context=CONTEXT))
    apply = ("volumes", "apply", str(file), "--size")
    with tempfile.TemporaryDirectory(prefix="trainway-disk-") as folder:
        node_cluster.apply(*disk(namespace, name, folder, grows=case.grows))
        try:
            home.run(*apply, "1Gi")
            assert wait_until(lambda: claim(node_cluster, name, namespace)[0], PATIENCE_S)
            said = answer(home, *apply, "2Gi", code=case.code)
            assert claim(node_cluster, name, namespace) == (True, case.size), said
            (shown,) = home.json("volumes", "ls")["items"]
            assert shown["size"] == case.size
            if not case.grows:
                assert f"claim {name} of namespace {namespace} cannot be made larger: " in said
            assert "cannot be made smaller" in answer(home, *apply, "500Mi", code=1)
            home.run("volumes", "delete", "-y", name)
        finally:
            node_cluster.kubectl("delete", "pv,storageclass", namespace, "--wait=false")


def answer(home: Installation, *words: str, code: int) -> str:
    """All that a command prints, and that it ends like this."""
    command = home.start(*words)
    said, _ = command.communicate(timeout=PATIENCE_S)
    assert command.returncode == code, said
    return str(said)


def claim(cluster: Access, name: str, namespace: str) -> tuple[bool, str]:
    """Whether a claim has its disk, and how much it asks for."""
    found = cluster.find("persistentvolumeclaims", name, namespace) or {}
    asked = found["spec"]["resources"]["requests"]["storage"]
    return found["status"].get("phase") == "Bound", str(asked)


def disk(namespace: str, name: str, folder: str, *, grows: bool) -> list[Json]:
    """A storage class, and a folder of the node that is its only disk."""
    kind = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": namespace},
        "provisioner": "example.com/none",
        "allowVolumeExpansion": grows,
    }
    spec = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": namespace,
        "hostPath": {"path": folder},
        "claimRef": {"namespace": namespace, "name": name},
    }
    metadata = {"name": namespace}
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": spec}
    return [kind, volume]
