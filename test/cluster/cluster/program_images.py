"""Images of busybox and a few programs of this machine, with the libraries that these load.

They stand in for images of a registry that cannot be reached here: such an image has a small shell
and its own program, and nothing else of this machine.
"""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from cluster import containerd
from cluster.images import Layer, busybox_layer, write_archive
from cluster.node import NodeCluster
from cluster.unavailable import UnavailableError

LOADED: Final = re.compile(r"(/\S+) \(0x[0-9a-f]+\)")
"""A library in what ldd prints, and the loader itself."""
CERTIFICATES: Final = Path("/etc/ssl/certs/ca-certificates.crt")


def load_programs(cluster: NodeCluster, image: str, programs: Sequence[str]) -> None:
    """Bring an image with these programs into the node."""
    archive = cluster.folder / f"programs-{'-'.join(programs)}.tar"
    write_archive(image, programs_layer(programs).write(), ["/bin/sh"], archive)
    containerd.import_images(cluster.socket, [archive])
    archive.unlink()


def programs_layer(names: Sequence[str]) -> Layer:
    """busybox, and these programs in place of what it has under their names."""
    layer = busybox_layer()
    layer.folders["usr/bin"] = layer.folders["etc/ssl"] = layer.folders["etc/ssl/certs"] = 0o755
    layer.texts["etc/ssl/certs/ca-certificates.crt"] = CERTIFICATES.read_text()
    for name in names:
        path = shutil.which(name)
        if path is None:
            raise UnavailableError(f"{name}: not found, and an image shall have it")
        layer.links.pop(f"bin/{name}", None)
        layer.programs[f"usr/bin/{name}"] = Path(path)
        for library in libraries(path):
            layer.programs[library.lstrip("/")] = Path(library)
    return layer


def libraries(program: str) -> list[str]:
    """What a program loads when it starts, where it looks for it; none if it is static."""
    done = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    return LOADED.findall(done.stdout)
