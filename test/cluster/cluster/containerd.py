"""containerd of its own for a node: nothing is shared with one the machine may run."""

import shutil
import subprocess
from pathlib import Path
from typing import Final

from cluster import images
from cluster.unavailable import UnavailableError

NAMESPACE: Final = "k8s.io"
PROGRAMS: Final = {"containerd": "containerd", "ctr": "containerd", "runc": "runc"}

# Without CAP_SYS_RESOURCE nobody may lower an OOM score: hence `oom_score` and
# `restrict_oom_score_adj`. The pods' network namespaces are kept in the state folder, so that what
# is left of them can be found.
CONFIGURATION: Final = """\
version = 2
root = "{folder}/root"
state = "{folder}/state"
oom_score = 0
disabled_plugins = [
  "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs",
  "io.containerd.tracing.processor.v1.otlp",
]

[grpc]
  address = "{socket}"

[plugins."io.containerd.internal.v1.opt"]
  path = "{folder}/opt"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  disable_apparmor = true
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true

  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{plugins}"
    conf_dir = "{network}"

  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"

    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"

      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
        Root = "{folder}/runc"
"""


def require_containerd() -> None:
    """See to it that containers can be run."""
    for program, package in PROGRAMS.items():
        if shutil.which(program) is None:
            raise UnavailableError(f"{program}: not found; apt-get install {package}")


def write_configuration(folder: Path, socket: Path, network: Path, plugins: Path) -> Path:
    """The configuration file; all state is in the folder."""
    folder.mkdir()
    path = folder / "config.toml"
    path.write_text(
        CONFIGURATION.format(
            folder=folder, socket=socket, network=network, plugins=plugins, pause=images.PAUSE
        )
    )
    return path


def is_serving(socket: Path) -> bool:
    """Whether containerd and its CRI plugin answer."""
    return ctr(socket, "version").returncode == 0


def import_images(socket: Path, archives: list[Path]) -> None:
    """Bring the images in."""
    for archive in archives:
        done = ctr(socket, "-n", NAMESPACE, "images", "import", str(archive))
        if done.returncode != 0:
            raise UnavailableError(f"image {archive.name}: {done.stderr.strip()[-500:]}")


def ctr(socket: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["ctr", "--address", str(socket), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)
