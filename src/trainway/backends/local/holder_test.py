from pathlib import Path

from trainway.backends.base import Capacity
from trainway.backends.local.holder import LOCAL_POOL, local_host
from trainway.jobset.quantity import Quantity

GIB = 2**30


def test_the_host_of_local_clusters_is_reached_without_ssh(tmp_path: Path) -> None:
    capacity = Capacity(Quantity.parse("1500m"), Quantity.parse("2Gi"), ("0", "1"))
    host = local_host(tmp_path, capacity)
    assert (host["cpus"], host["memory"], host["gpus"]) == (1.5, 2 * GIB, ["0", "1"])
    folder = str(tmp_path / "pools" / LOCAL_POOL / "this")
    assert host["command"][-4:] == ["--home", folder, "--shared", folder]
