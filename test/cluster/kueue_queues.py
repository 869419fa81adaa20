"""The objects that make a queue of Kueue: a flavor, its quota, and the door in a namespace."""

from typing import Final

from trainway.json_types import Json

API_VERSION: Final = "kueue.x-k8s.io/v1beta2"


def queue_objects(name: str, namespace: str, cpus: int) -> list[Json]:
    """A queue of that name in the namespace, with a quota of its own."""
    quota = {"name": "cpu", "nominalQuota": str(cpus)}
    flavor = {"name": name, "resources": [quota]}
    return [
        {"apiVersion": API_VERSION, "kind": "ResourceFlavor", "metadata": {"name": name}},
        {
            "apiVersion": API_VERSION,
            "kind": "ClusterQueue",
            "metadata": {"name": name},
            "spec": {
                "namespaceSelector": {},
                "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [flavor]}],
            },
        },
        {
            "apiVersion": API_VERSION,
            "kind": "LocalQueue",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"clusterQueue": name},
        },
    ]
