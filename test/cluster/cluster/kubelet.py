"""The kubelet's configuration, for a machine that is a container or a small virtual one itself."""

from pathlib import Path
from typing import Any

from cluster.certificates import KeyPair


def kubelet_configuration(
    folder: Path,
    *,
    address: str,
    port: int,
    socket: Path,
    cgroup: str,
    authority: Path,
    serving: KeyPair,
) -> dict[str, Any]:
    """A KubeletConfiguration; all its state is in the folder."""
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": address,
        "port": port,
        "healthzPort": 0,
        "readOnlyPort": 0,
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": False},
            "x509": {"clientCAFile": str(authority)},
        },
        "authorization": {"mode": "AlwaysAllow"},
        "tlsCertFile": str(serving.certificate),
        "tlsPrivateKeyFile": str(serving.key),
        "containerRuntimeEndpoint": f"unix://{socket}",
        "clusterDNS": [address],
        "clusterDomain": "cluster.local",
        "resolvConf": str(folder / "resolv.conf"),
        "podLogsDir": str(folder / "logs"),
        "volumePluginDir": str(folder / "plugins"),
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{cgroup}",
        "failCgroupV1": False,
        "enforceNodeAllocatable": [],
        "failSwapOn": False,
        "oomScoreAdj": 0,
        "makeIPTablesUtilChains": False,
        "localStorageCapacityIsolation": False,
        "imageGCHighThresholdPercent": 100,
        "evictionHard": {"memory.available": "50Mi", "nodefs.available": "1%"},
        "maxPods": 250,
        "registryPullQPS": 0,
        "nodeStatusUpdateFrequency": "5s",
        "syncFrequency": "10s",
        "serializeImagePulls": False,
    }
