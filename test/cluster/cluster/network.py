"""The network of a node: a bridge whose address is the node's, and the pods' place on it."""

import json
import shutil
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cluster.unavailable import UnavailableError

PLUGINS: Final = Path("/usr/lib/cni")  # where Debian has them
RESULTS: Final = Path("/var/lib/cni/results")
BRIDGES: Final = 16


@dataclass(frozen=True)
class Network:
    """A bridge and the addresses behind it."""

    index: int

    @property
    def bridge(self) -> str:
        """The name of the bridge, which is the name of the network too."""
        return f"trainway{self.index}"

    @property
    def address(self) -> str:
        """The node's address."""
        return f"10.{200 + self.index}.0.1"

    @property
    def card(self) -> str:
        """The hardware address of the bridge.

        A bridge without one takes that of a port, and another when a pod comes or goes: then pods
        write to an address that nobody has, and get no answer from DNS, for as long as they
        remember it.
        """
        return f"02:00:0a:{200 + self.index:02x}:00:01"

    @property
    def subnet(self) -> str:
        """The addresses of node and pods."""
        return f"10.{200 + self.index}.0.0/16"


def require_network() -> None:
    """See to it that networks can be made."""
    if shutil.which("ip") is None:
        raise UnavailableError("ip: not found; apt-get install iproute2")
    missing = [
        name for name in ("bridge", "host-local", "loopback") if not (PLUGINS / name).exists()
    ]
    if missing:
        raise UnavailableError(
            f"{', '.join(missing)}: not in {PLUGINS}; apt-get install containernetworking-plugins"
        )


def create_network() -> Network:
    """A network that no other cluster of this machine has; making the bridge reserves it."""
    failure = ""
    for index in range(BRIDGES):
        network = Network(index)
        done = ip("link", "add", network.bridge, "address", network.card, "type", "bridge")
        if done.returncode == 0:
            ip("address", "add", f"{network.address}/16", "dev", network.bridge)
            ip("link", "set", network.bridge, "up")
            return network
        failure = done.stderr.strip()
    raise UnavailableError(f"no bridge can be made: {failure}")


def delete_network(bridge: str, folder: Path) -> None:
    """Remove the bridge and what the plugins noted about pods whose state is in the folder."""
    ip("link", "delete", bridge)
    for path in RESULTS.glob("*"):
        with suppress(FileNotFoundError):  # that of another cluster may go meanwhile
            if f"{folder}/" in path.read_text(errors="replace"):
                path.unlink()


def ip(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)


def write_plugin_configuration(network: Network, folder: Path) -> Path:
    """The folder with the configuration of the pods' network."""
    target = folder / "cni"
    target.mkdir()
    configuration = plugin_configuration(network, folder / "addresses")
    (target / "network.conflist").write_text(json.dumps(configuration))
    return target


def plugin_configuration(network: Network, addresses: Path) -> dict[str, Any]:
    """What the CNI plugins are told."""
    return {
        "cniVersion": "0.4.0",
        "name": network.bridge,
        "plugins": [
            {
                "type": "bridge",
                "bridge": network.bridge,
                "isGateway": True,
                "ipMasq": False,
                "hairpinMode": True,
                "ipam": {
                    "type": "host-local",
                    "dataDir": str(addresses),
                    "ranges": [[{"subnet": network.subnet, "gateway": network.address}]],
                    "routes": [{"dst": "0.0.0.0/0"}],
                },
            }
        ],
    }
